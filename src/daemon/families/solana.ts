import bs58 from 'bs58'
import type pg from 'pg'
import type { RpcError } from '../../chains/rpc/errors.js'
import { createSolanaRpc } from '../../chains/rpc/solana.js'
import type { SolanaQuoterOptions } from '../../chains/solana/quote.js'
import { readGenesisHash, registerChain } from '../../db/chains/chains.js'
import type { PaymentProgramIdentity } from '../../indexer/solana/check.js'
import type { SolanaChainSource } from '../../indexer/solana/watcher.js'
import { SOLANA } from '../../registry/families.js'
import { NETWORKS } from '../../registry/primitives/network.js'
import type { RelayerChain } from '../../relayer/run.js'
import { createSolanaRelayerChain } from '../../relayer/solanaRelayer.js'
import { findHubChain } from './evm.js'
import { createRpcFaultLogger, type DaemonChainFamily, type OpenedChain } from './family.js'

interface OpenSolanaOptions extends Pick<SolanaQuoterOptions, 'network' | 'config' | 'hub'> {
  /** The key that signs quotes, followed by earlier keys. */
  quoteKeys: readonly Uint8Array[]
  pool: pg.Pool
  /** The relay authority's key, 64 bytes. Without it, nothing is settled or refunded. */
  relayKey?: Uint8Array | undefined
  releaseAfterMs: number
  onFault?: (url: string, error: RpcError) => void
}

/** A network's Solana cluster, the source of its watcher, and the relayer of its jobs. */
export interface OpenedSolanaChain extends OpenedChain, SolanaChainSource {
  payer: RelayerChain
}

/**
 * Opens a network's Solana cluster with the genesis hash from the configuration or the database. Where neither has it,
 * the nodes are asked without waiting for their answer, and the watcher asks again. Loads Solana's libraries.
 * @throws ChainMismatchError, WrongChainError
 */
export async function openSolanaChain(options: OpenSolanaOptions): Promise<OpenedSolanaChain> {
  const { createSolanaChain } = await import('../../chains/solana/chain.js')
  const { createSolanaSigner } = await import('../../chains/solana/signer.js')
  const { createPaymentWatcherWorker } = await import('../../indexer/solana/worker.js')
  const { pool, network, config, hub, quoteKeys, relayKey: secretKey } = options
  const instance = config.programId
  const programId = Buffer.from(bs58.decode(instance))
  const known = await readGenesisHash(pool, network, SOLANA.label, instance)
  const genesisHash = config.genesisHash ?? (known ? bs58.encode(known) : undefined)
  const rpc = createSolanaRpc({ rpcUrls: config.rpcUrls, genesisHash }, options.onFault)
  const chain = createSolanaChain({ config, network, rpc, hub, quoteKey: quoteKeys[0]! })

  const register = async (
    genesis: string,
  ): Promise<{ identity: PaymentProgramIdentity; chain: number }> => {
    const genesisBytes = Buffer.from(bs58.decode(genesis))
    const row = await registerChain(pool, {
      network,
      label: SOLANA.label,
      instance,
      family: SOLANA.key,
      chainId: null,
      genesisHash: genesisBytes,
      contract: programId,
      startBlock: config.startSlot,
    })
    chain.chain = row.chain
    return {
      identity: { network, genesisHash: genesisBytes, programId, quoteKeys },
      chain: row.chain,
    }
  }
  // a genesis hash that is not configured is stored permanently, so a quorum of nodes has to report it
  const readGenesis = () => rpc.quorum(() => rpc.genesisHash())
  const open = async () => register(genesisHash ?? (await readGenesis()))
  if (genesisHash) await open()
  // opened here because every process, not only the leader, needs the chain's number; not awaited, because the chain
  // may be unavailable
  else open().catch(() => {})
  const { commitment, pollMs, maxUnitPrice } = config
  const { registrar } = chain
  const signer = secretKey
    ? createSolanaSigner({
        rpc: rpc.forUse('relay'),
        registrar,
        commitment,
        secretKey,
        maxUnitPrice,
      })
    : null
  const { releaseAfterMs } = options
  return {
    chain,
    open,
    port: chain,
    nodes: () => rpc.health(),
    label: SOLANA.label,
    pollMs,
    balances: chain.balances,
    watch: (ctx, reporting) => [createPaymentWatcherWorker(ctx, { chain, open }, reporting)],
    payer: createSolanaRelayerChain({ signer, releaseAfterMs, pollMs, open }),
  }
}

const isSolanaChain = (opened: OpenedChain): opened is OpenedSolanaChain => 'payer' in opened

/** The daemon's code for Solana clusters: at most one for each network, with price feeds on the hub. */
export const solanaFamily: DaemonChainFamily = {
  testWallet({ solana }) {
    // a local Solana cluster serves mainnet and testnet
    const [rpcUrl = null] = (solana.mainnet ?? solana.testnet)?.rpcUrls ?? []
    return {
      key: SOLANA.addressType,
      chains: rpcUrl,
      rpcUrls: rpcUrl === null ? [] : [rpcUrl],
    }
  },
  async examine(config) {
    if (Object.keys(config.solana).length === 0) return []
    return (await import('./solanaChecks.js')).checkSolanaClusters(config)
  },
  async open(config, ctx, opened) {
    const solanaChains: OpenedChain[] = []
    for (const network of NETWORKS) {
      const solanaConfig = config.solana[network]
      const hub = findHubChain(opened, network)
      if (!solanaConfig || !hub) continue
      const opening = openSolanaChain({
        pool: ctx.pool,
        network,
        config: solanaConfig,
        hub: hub.rpc.forUse('api'),
        quoteKeys: config.quoteKeys,
        relayKey: config.relayKeys.solana,
        releaseAfterMs: config.payments.releaseAfterMs,
        onFault: createRpcFaultLogger(SOLANA.label, ctx),
      })
      solanaChains.push(await opening)
    }
    return solanaChains
  },
  relay: (opened, { relayKeys }) => ({
    sources: opened.filter(isSolanaChain).map(({ payer }) => payer),
    hasKey: relayKeys.solana !== undefined,
    keyFrom: 'SOLANA_RELAYER_PRIVATE_KEY or SOLANA_RELAYER_KEY_FILE',
  }),
}
