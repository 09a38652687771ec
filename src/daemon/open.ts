import bs58 from 'bs58'
import type pg from 'pg'
import { ChainUnavailableError, type Hex } from '../chains/chain.js'
import { createChainRpc, createEvmChain } from '../chains/evm/chain.js'
import { keepersOf, keepsRecord } from '../chains/evm/record.js'
import { RefutedError, type RpcError } from '../chains/rpc/errors.js'
import type { Rpc } from '../chains/rpc/evm.js'
import type { SolanaChain } from '../chains/solana/chain.js'
import type { QuoterOptions } from '../chains/solana/quote.js'
import { type ChainConfig, type Config, ConfigError } from '../config/index.js'
import { knownGenesis, registerChain, requireHub } from '../db/journal/chains.js'
import { keepPaymentsContract } from '../db/outbox/contract.js'
import type { OpenChain } from '../indexer/evm/worker.js'
import type { ProgramIdentity } from '../indexer/solana/row.js'
import type { SolanaSource } from '../indexer/solana/worker.js'
import { alarmFields } from '../ops/alarms.js'
import type { Context } from '../ops/context.js'
import type { Logger } from '../ops/log/log.js'
import { inTime } from '../ops/notify.js'
import { EVM, SOLANA } from '../registry/families.js'
import { fromHex, toHex } from '../registry/primitives/bytes.js'
import { NETWORKS } from '../registry/primitives/network.js'
import type { SolanaRelayerSource } from '../relayer/run.js'

type OpenContext = Pick<Context, 'pool' | 'log' | 'metrics'>

/** Time for which a start waits for a node to say which chain it serves. */
const IDENTITY_LIMIT_MS = 5_000

/**
 * Opens a configured EVM chain by the database alone: its node may be away, and is identified when it is first reached.
 * Only the hub of a new configuration, and a local chain, whose launcher may have made it anew, are asked before.
 * @throws ChainMismatchError, also for another hub; WrongChainError where the chain is asked
 */
export async function openChain(config: ChainConfig, ctx: OpenContext): Promise<OpenChain> {
  const { pool, log } = ctx
  const { network, label, chainId, contract, communityPayments, startBlock, local, role } = config
  if (config.watchOnly && !config.trust)
    throw new ConfigError(
      `Chain "${label}" is watched, and contracts of others keep no record of their logs: say "trust": "compared" (two nodes have to give the same) or "trusted" (one is believed) in the chains file.`,
    )
  const stored = await knownGenesis(pool, network, label)
  const known = config.genesisHash ? fromHex(config.genesisHash) : stored
  const rpc = createChainRpc(
    known ? { ...config, genesisHash: toHex(known) } : config,
    faultReporter(label, ctx),
  )
  ctx.metrics.rpc.watch(label, () => rpc.health())
  const register = (genesisHash: Buffer | null) =>
    registerChain(pool, {
      network,
      label,
      instance: '',
      family: EVM.key,
      chainId,
      genesisHash,
      contract: fromHex(contract),
      startBlock,
    })
  const asked = local || (role === 'hub' && !stored) ? await identityInTime(rpc, label, log) : null
  const row = await register(asked ? fromHex(asked) : known)
  if (role === 'hub') await requireHub(pool, row)
  if (asked) await requireRecord(rpc, config).catch(unlessAway)
  await keepPaymentsContract(pool, row, communityPayments ? fromHex(communityPayments) : null)
  if (row.halted)
    log.error(
      { chain: row.label, reason: row.halted, ...alarmFields('ClusterdChainHalted') },
      'the chain is halted',
    )
  let isIdentified = asked !== null
  const identify = async (): Promise<void> => {
    if (!isIdentified) {
      await register(fromHex(await rpc.genesisHash()))
      await requireRecord(rpc, config).catch(unlessAway)
    }
    isIdentified = true
  }
  return { row, chain: createEvmChain({ config, chain: row.chain, rpc }), identify }
}

/** @throws whatever is no outage: that is met again at the first contact */
const unlessAway = (error: Error): void => {
  if (!(error instanceof ChainUnavailableError)) throw error
}

/**
 * Whether contracts keep a record is known by their code, never by a failed question about the record.
 * @throws ConfigError for a contract that keeps none; ChainUnavailableError
 */
async function requireRecord(rpc: Rpc, config: ChainConfig): Promise<void> {
  for (const { kind, address } of keepersOf(config)) {
    const code = await rpc.quorum((call) => call<Hex>('eth_getCode', [address, 'latest']))
    if (code !== '0x' && !keepsRecord(code))
      throw new ConfigError(
        `The ${kind} contract ${address} of chain "${config.label}" keeps no record of its logs: it is older than the record, or not ours. Say "trust": "compared" (two nodes have to give the same) or "trusted" (one is believed) in the chains file.`,
      )
  }
}

/** The genesis that a chain's nodes show; null where none answers in time. @throws WrongChainError */
async function identityInTime(rpc: Rpc, label: string, log: Logger): Promise<Hex | null> {
  const answer = rpc.genesisHash().catch((error: Error) => {
    if (error.name !== 'ChainUnavailableError') throw error
    return null
  })
  const genesis = await inTime(IDENTITY_LIMIT_MS, answer, null)
  if (genesis === null)
    log.warn({ chain: label }, 'the chain does not answer: it is identified when it does')
  return genesis
}

/** Opens the Solana clusters of the networks that have one. @throws ChainMismatchError, WrongChainError */
export async function openClusters(
  config: Config,
  chains: readonly OpenChain[],
  ctx: OpenContext,
): Promise<OpenSolana[]> {
  const open: OpenSolana[] = []
  for (const network of NETWORKS) {
    const cluster = config.solana[network]
    const hub = chains.find(({ chain }) => chain.network === network && chain.role === 'hub')
    if (!cluster || !hub) continue
    const { quoteKeys, solanaRelayerKey: relayKey, payments } = config
    const { releaseAfterMs } = payments
    const onFault = faultReporter('solana', ctx)
    const common = { pool: ctx.pool, network, quoteKeys, relayKey, releaseAfterMs, onFault }
    const solana = await openSolana({
      ...common,
      config: cluster,
      hub: hub.chain.rpc.forUse('api'),
    })
    ctx.metrics.rpc.watch(`solana ${network}`, () => solana.chain.rpc.health())
    open.push(solana)
  }
  return open
}

export interface OpenSolanaOptions extends Pick<QuoterOptions, 'network' | 'config' | 'hub'> {
  /** The key of quotes, then earlier ones. */
  quoteKeys: readonly Uint8Array[]
  pool: pg.Pool
  /** The relay authority's key, 64 bytes; nothing is settled or refunded without it. */
  relayKey?: Uint8Array | undefined
  releaseAfterMs: number
  onFault?: (url: string, error: RpcError) => void
}

/** A network's Solana cluster, the source of its watcher, and the payer of its jobs. */
export interface OpenSolana extends SolanaSource {
  chain: SolanaChain
  payer: SolanaRelayerSource
}

/**
 * Opens a network's Solana cluster under the genesis that the configuration or the database knows. A cluster that is
 * away and whose genesis neither knows is opened later by its watcher, so that it delays nothing else. Solana's
 * libraries load here.
 * @throws ChainMismatchError, WrongChainError
 */
export async function openSolana(options: OpenSolanaOptions): Promise<OpenSolana> {
  const { createClusterRpc, createSolanaChain } = await import('../chains/solana/chain.js')
  const { createSolanaSigner } = await import('../chains/solana/signer.js')
  const { pool, network, config, hub, quoteKeys, relayKey: secretKey } = options
  const instance = config.programId
  const programId = Buffer.from(bs58.decode(instance))
  const known = await knownGenesis(pool, network, SOLANA.label, instance)
  const genesisHash = config.genesisHash ?? (known ? bs58.encode(known) : undefined)
  const rpc = createClusterRpc({ rpcUrls: config.rpcUrls, genesisHash }, options.onFault)
  const chain = createSolanaChain({ config, network, rpc, hub, quoteKey: quoteKeys[0]! })

  const register = async (
    genesis: string,
  ): Promise<{ identity: ProgramIdentity; chain: number }> => {
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
  const open = async () => register(genesisHash ?? (await rpc.genesisHash()))
  if (genesisHash) await open()
  // not waited for: a process that doesn't lead needs the chain's number too
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
  return { chain, open, payer: { signer, releaseAfterMs, pollMs, open } }
}

const faultReporter =
  (chain: string, { log }: OpenContext) =>
  (url: string, error: RpcError): void => {
    const refuted = error instanceof RefutedError && alarmFields('ClusterdRpcWrongChain')
    const fields = { chain, url: new URL(url).host, fault: error.fault, err: error, ...refuted }
    log[refuted ? 'error' : 'debug'](fields, 'an RPC URL failed')
  }
