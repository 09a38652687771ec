import bs58 from 'bs58'
import type pg from 'pg'
import type { RpcError } from './chains/rpc/errors.js'
import type { Nodes } from './chains/rpc/nodes.js'
import { createClusterRpc, createSolanaChain, SOLANA_LABEL, type SolanaChain } from './chains/solana/chain.js'
import { createPayoutCluster } from './chains/solana/payouts.js'
import type { SolanaConfig } from './config/index.js'
import { knownGenesis, registerChain } from './db/chains.js'
import type { ProgramIdentity } from './indexer/solana/row.js'
import type { SolanaSource } from './indexer/solana/run.js'
import type { Network } from './registry/primitives/network.js'
import type { PayoutSource } from './relayer/payouts/run.js'

export interface OpenSolanaOptions {
  pool: pg.Pool
  network: Network
  config: SolanaConfig
  /** The nodes of the network's hub. */
  hub: Nodes
  quoteKey: Uint8Array
  /** The relay authority's key, 64 bytes; without it nothing is settled or refunded. */
  relayKey?: Uint8Array | undefined
  onFault?: (url: string, error: RpcError) => void
}

/** A network's Solana cluster, what its watcher starts from, and who pays out. */
export interface OpenSolana extends SolanaSource {
  chain: SolanaChain
  payouts: PayoutSource
}

/**
 * Opens a network's Solana cluster under the genesis that the configuration or the database knows. Where neither does and the
 * cluster is away, it is opened later, by its watcher: it holds up nothing else.
 * @throws ChainMismatchError, WrongChainError
 */
export async function openSolana(options: OpenSolanaOptions): Promise<OpenSolana> {
  const { pool, network, config, hub, quoteKey } = options
  const instance = config.programId
  const programId = Buffer.from(bs58.decode(instance))
  const known = await knownGenesis(pool, network, SOLANA_LABEL, instance)
  const genesisHash = config.genesisHash ?? (known ? bs58.encode(known) : undefined)
  const rpc = createClusterRpc({ rpcUrls: config.rpcUrls, genesisHash }, options.onFault)
  const chain = createSolanaChain({ config, network, rpc, hub, quoteKey })

  const register = async (genesis: string): Promise<{ identity: ProgramIdentity; chain: number }> => {
    const genesisBytes = Buffer.from(bs58.decode(genesis))
    const row = await registerChain(pool, {
      ...{ network, label: SOLANA_LABEL, instance, chainId: null, genesisHash: genesisBytes, contract: programId },
      startBlock: config.startSlot,
    })
    chain.chain = row.chain
    return { identity: { network, genesisHash: genesisBytes, programId, quoteKey }, chain: row.chain }
  }
  const open = async () => register(genesisHash ?? (await rpc.genesisHash()))
  if (genesisHash) await open()
  // not waited for: a process that doesn't lead needs the chain's number too
  else open().catch(() => {})
  const { commitment, pollMs, refunds } = config
  const { relayKey: secretKey } = options
  const cluster = secretKey ? createPayoutCluster({ rpc, registrar: chain.registrar, commitment, secretKey }) : null
  return { chain, open, payouts: { cluster, autoRefunds: refunds.auto, pollMs, open } }
}
