import { createServer } from 'node:http'
import type pg from 'pg'
import { privateKeyToAccount } from 'viem/accounts'
import { createApi } from './api/server.js'
import { createPermissionSigner } from './chains/evm/airdrop/permissionSigner.js'
import { createChainRpc, createEvmChain, type EvmChain } from './chains/evm/chain.js'
import type { RpcError } from './chains/rpc/errors.js'
import type { ChainConfig, Config } from './config/index.js'
import { type ChainRow, knownGenesis, registerChain } from './db/chains.js'
import { readQuoteKey } from './db/payments/payments.js'
import { migrate } from './db/pg/migrate.js'
import { createPool, isReachable } from './db/pg/pool.js'
import { createPrisma } from './db/prisma.js'
import { createProgressLog } from './indexer/progress.js'
import { readiness } from './indexer/readiness.js'
import { type IndexRun, runIndexers } from './indexer/run.js'
import type { OpenSolana } from './openSolana.js'
import { createDeliveryMetrics, type DeliveryMetrics } from './ops/deliveryMetrics.js'
import { armFailpoint } from './ops/failpoint.js'
import type { Logger } from './ops/log.js'
import { createMetrics, type Metrics } from './ops/metrics.js'
import { listen, startOpsServer } from './ops/server.js'
import { fromHex, toHex } from './registry/primitives/bytes.js'
import { NETWORKS, type Network } from './registry/primitives/network.js'
import { countOutcome, showPayers, showRelayers } from './relayer/metrics.js'
import type { RelayerState } from './relayer/relayer.js'
import { placesOf } from './relayer/route.js'
import { type RelayRun, runRelayer } from './relayer/run.js'

/** Reads of the API give up after this long. */
const READ_TIMEOUT_MS = 10_000
/** A stop waits this long for requests and steps under way. */
const STOP_TIMEOUT_MS = 8_000
/** The indexers hold one connection each while they write, the relayers one for each delivery under way. */
const WRITE_CONNECTIONS = 12

export interface Daemon {
  apiPort: number
  opsPort: number
  /** Finishes requests and steps under way, releases locks. Safe to call twice. */
  stop(): Promise<void>
}

interface OpenChain {
  chain: EvmChain
  row: ChainRow
}

/**
 * Starts the daemon: migrations, chains, indexers, API, operator's port.
 * @throws Error with one sentence when the database or a chain can't be used (ChainMismatchError, WrongChainError)
 */
export async function startDaemon(config: Config, log: Logger): Promise<Daemon> {
  armFailpoint(config.failpoint)
  const applied = await migrate(config.databaseUrl)
  if (applied.length > 0) log.info({ migrations: applied }, 'migrated the database')
  const onPoolError = (err: Error) => log.warn({ err }, 'a database connection broke')
  const writePool = createPool(
    { url: config.databaseUrl, max: WRITE_CONNECTIONS, applicationName: 'clusterd write' },
    onPoolError,
  )
  const readPool = createPool(
    {
      url: config.databaseUrl,
      max: config.databasePool,
      applicationName: 'clusterd read',
      statementTimeoutMs: READ_TIMEOUT_MS,
    },
    onPoolError,
  )
  const prisma = createPrisma(config.databaseUrl, onPoolError)
  const stopping = new AbortController()
  const closers: (() => Promise<unknown>)[] = [() => readPool.end(), () => writePool.end(), () => prisma.$disconnect()]
  try {
    let runs: IndexRun[] = []
    let relays: RelayRun[] = []
    const relayStates = () => relays.flatMap((relay) => relay.states())
    const metrics = createMetrics((m) => showChains(m, runs))
    const deliveryMetrics = createDeliveryMetrics(metrics.registry, (m) => {
      showRelayers(m, relayStates(), Date.now())
      showPayers(
        m,
        relays.flatMap((relay) => relay.payouts() ?? []),
        Date.now(),
      )
    })
    const open: OpenChain[] = []
    for (const chain of config.chains) open.push(await openChain(writePool, chain, log, metrics))
    const solana = await openClusters(config, writePool, open, log, metrics)

    const api = createApi({
      pool: readPool,
      prisma,
      chains: open.map(({ chain }) => chain),
      solana: solana.map(({ chain }) => chain),
      permissionSigner: config.airdropOperatorKey ? createPermissionSigner(config.airdropOperatorKey) : null,
      config,
      log,
      metrics,
    })
    const server = createServer(api.limits, api.app)
    api.protect(server)
    await listen(server, config.port, config.host)
    const closeServer = () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
      })
    // requests under way end while the steps do: a chain that hangs holds up neither
    closers.unshift(() => Promise.all([closeServer(), ...[...runs, ...relays].map((run) => run.done)]))
    runs = NETWORKS.flatMap((network) => {
      const chains = open.filter(({ chain }) => chain.network === network)
      const cluster = solana.find(({ chain }) => chain.network === network) ?? null
      return chains.length > 0
        ? [startIndexers(config, writePool, network, chains, cluster, log, metrics, stopping.signal)]
        : []
    })
    relays = NETWORKS.flatMap((network) => {
      const chains = open.filter(({ chain }) => chain.network === network)
      const cluster = solana.find(({ chain }) => chain.network === network) ?? null
      return startRelayer(config, writePool, network, chains, cluster, log, deliveryMetrics, stopping.signal) ?? []
    })

    const ops = await startOpsServer({
      port: config.opsPort,
      metrics,
      ready: async () => {
        const isDatabaseUp = await isReachable(readPool)
        const states = runs.flatMap((run) => run.states())
        const watchOnly = open.filter(({ chain }) => chain.config.watchOnly).map(({ chain }) => chain.label)
        return {
          ...readiness(states, isDatabaseUp, Date.now()),
          chains: states.map(({ state }) => state),
          deliveries: relayStates()
            .filter(({ stranded }) => stranded !== null)
            .map(summaryOf),
          watchOnly,
        }
      },
    })
    closers.push(ops.close)

    const address = server.address()
    const apiPort = typeof address === 'object' && address ? address.port : config.port
    log.info({ api: `http://${config.host}:${apiPort}`, ops: `http://127.0.0.1:${ops.port}` }, 'clusterd is up')
    return { apiPort, opsPort: ops.port, stop: stopper(stopping, closers, log) }
  } catch (error) {
    stopping.abort()
    await Promise.allSettled(closers.map((close) => close()))
    throw error
  }
}

function stopper(stopping: AbortController, closers: (() => Promise<unknown>)[], log: Logger): () => Promise<void> {
  let stopped: Promise<void> | null = null
  const stop = async (): Promise<void> => {
    stopping.abort()
    const closing = (async () => {
      for (const close of closers) await close().catch((err: Error) => log.warn({ err }, 'closing'))
    })()
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, STOP_TIMEOUT_MS).unref())
    await Promise.race([closing, timeout])
    log.info('clusterd has stopped')
  }
  return () => {
    stopped ??= stop()
    return stopped
  }
}

/** Opens a configured chain under the genesis that the database knows, or learns it at the first start. */
async function openChain(pool: pg.Pool, config: ChainConfig, log: Logger, metrics: Metrics): Promise<OpenChain> {
  const known = config.genesisHash
    ? fromHex(config.genesisHash)
    : await knownGenesis(pool, config.network, config.label)
  const rpc = createChainRpc(known ? { ...config, genesisHash: toHex(known) } : config, (url, error) => {
    metrics.rpcFaults.inc({ chain: config.label, fault: error.fault })
    log.debug({ chain: config.label, url: new URL(url).host, fault: error.fault, err: error }, 'an RPC URL failed')
  })
  // asked even when known: a node of another chain stops the start, one that is away only when nothing is known yet
  const genesis = await rpc.genesisHash().catch((error: Error) => {
    if (known && error.name === 'ChainUnavailableError') return toHex(known)
    throw error
  })
  const row = await registerChain(pool, {
    network: config.network,
    label: config.label,
    instance: '',
    chainId: config.chainId,
    genesisHash: fromHex(genesis),
    contract: fromHex(config.contract),
    startBlock: config.startBlock,
  })
  if (row.halted) log.error({ chain: row.label, reason: row.halted }, 'the chain is halted')
  return { row, chain: createEvmChain({ config, chain: row.chain, rpc }) }
}

/** Opens the Solana clusters of the networks that have one. Their libraries are loaded only then. */
async function openClusters(
  config: Config,
  pool: pg.Pool,
  chains: readonly OpenChain[],
  log: Logger,
  metrics: Metrics,
): Promise<OpenSolana[]> {
  const open: OpenSolana[] = []
  for (const network of NETWORKS) {
    const cluster = config.solana[network]
    const hub = chains.find(({ chain }) => chain.network === network && chain.role === 'hub')
    if (!cluster || !hub) continue
    const { openSolana } = await import('./openSolana.js')
    const quoteKey = config.quoteKey ?? (await readQuoteKey(pool))
    const relayKey = config.solanaRelayerKey
    const onFault = (url: string, error: RpcError) => {
      metrics.rpcFaults.inc({ chain: 'solana', fault: error.fault })
      log.debug({ chain: 'solana', url: new URL(url).host, fault: error.fault, err: error }, 'an RPC URL failed')
    }
    open.push(await openSolana({ pool, network, config: cluster, hub: hub.chain.rpc, quoteKey, relayKey, onFault }))
  }
  return open
}

function startIndexers(
  config: Config,
  pool: pg.Pool,
  network: Network,
  chains: readonly OpenChain[],
  solana: OpenSolana | null,
  log: Logger,
  metrics: Metrics,
  signal: AbortSignal,
): IndexRun {
  return runIndexers({
    pool,
    databaseUrl: config.databaseUrl,
    network,
    chains,
    solana,
    log,
    signal,
    onProgress: createProgressLog(log),
    onOutcome: (row, outcome) => {
      metrics.steps.inc({ network, chain: row.label, outcome: outcome.kind })
      if ('entries' in outcome && outcome.entries > 0) metrics.entries.inc({ network }, outcome.entries)
      if (outcome.kind === 'took') metrics.payments.inc({ network }, outcome.payments)
    },
    onJudged: (outcome) => {
      if (outcome.kind === 'entered') metrics.entries.inc({ network }, outcome.payments)
    },
  })
}

/** A network's deliveries, where there is something to carry. */
function startRelayer(
  config: Config,
  pool: pg.Pool,
  network: Network,
  chains: readonly OpenChain[],
  solana: OpenSolana | null,
  log: Logger,
  metrics: DeliveryMetrics,
  signal: AbortSignal,
): RelayRun | null {
  const numbered = chains.map(({ chain, row }) => ({ chain, number: row.chain }))
  const { places, problem } = placesOf(numbered, solana !== null)
  if (problem) log.warn({ network }, problem)
  if (places.length === 0) return null
  const key = config.relayerPrivateKey
  if (!key)
    log.info({ network }, 'RELAYER_PRIVATE_KEY is not set: packets are watched, nothing is delivered or given back')
  return runRelayer({
    places,
    pool,
    databaseUrl: config.databaseUrl,
    network,
    account: key ? privateKeyToAccount(key) : null,
    settings: config.deliveries[network],
    payouts: solana?.payouts,
    log,
    signal,
    onOutcome: (row, outcome) => countOutcome(metrics, row, outcome),
    onPayout: ({ kind }, outcome) => metrics.payoutSteps.inc({ network, kind, outcome }),
  })
}

/** What /ready says of a network's deliveries; none of it makes the daemon unready. */
const summaryOf = ({ network, stats, stranded }: RelayerState) => ({
  network,
  underWay:
    stats &&
    stats.states.queued.count + stats.states.signed.count + stats.states.sent.count + stats.states.included.count,
  parked: stats?.states.parked.count ?? null,
  stranded,
})

function showChains(metrics: Metrics, runs: readonly IndexRun[]): void {
  for (const { network, label, state } of runs.flatMap((run) => run.states())) {
    if (!state) continue
    const labels = { network, chain: label }
    if (state.latest !== null) metrics.headBlock.set(labels, state.latest)
    if (state.confirmed !== null) metrics.confirmedBlock.set(labels, state.confirmed)
    metrics.nextBlock.set(labels, state.nextBlock)
    metrics.halted.set(labels, state.halted ? 1 : 0)
  }
}
