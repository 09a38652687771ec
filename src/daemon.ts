import { createServer } from 'node:http'
import type pg from 'pg'
import { privateKeyToAccount } from 'viem/accounts'
import { createApi } from './api/server.js'
import { createPermissionSigner } from './chains/evm/airdrop/permissionSigner.js'
import type { Config } from './config/index.js'
import type { OpenJobs } from './db/outbox/stats.js'
import { FROZEN_MS } from './db/pg/leader.js'
import { migrate } from './db/pg/migrate.js'
import { createPool, isReachable } from './db/pg/pool.js'
import type { OpenChain } from './indexer/evm/worker.js'
import { readiness } from './indexer/readiness.js'
import { type IndexRun, runIndexers, type Sources } from './indexer/run.js'
import { type OpenSolana, openChain, openClusters } from './open.js'
import type { Context } from './ops/context.js'
import { armFailpoint } from './ops/failpoint.js'
import type { Logger } from './ops/log.js'
import { createMetrics, type Metrics } from './ops/metrics.js'
import { createOutboxMetrics, type OutboxMetrics } from './ops/outboxMetrics.js'
import { listen, startOpsServer } from './ops/server.js'
import { releaseTypedData } from './registry/community/release.js'
import { NETWORKS } from './registry/primitives/network.js'
import { countOutcome, showOutbox } from './relayer/metrics.js'
import type { RelayerState } from './relayer/relayer.js'
import { type RelayRun, runRelayer } from './relayer/run.js'
import { relayPlanOf } from './relayer/targets.js'

/** Time limit of the API's reads. */
const READ_TIMEOUT_MS = 10_000
/** Time after which a read or a write whose server says nothing is given up. */
const READ_SILENCE_MS = 12_000
const WRITE_SILENCE_MS = 60_000
/** Time limit of a stop, for requests and steps under way. */
const STOP_TIMEOUT_MS = 8_000
/** The indexers hold one connection each while they write, the relayers one for each delivery under way. */
const WRITE_CONNECTIONS = 12

export type Daemon = Pick<RunningDaemon, 'apiPort' | 'opsPort' | 'stop'>

/**
 * Starts the daemon: migrations, chains, indexers, API, operator's port.
 * @throws Error with one sentence when the database or a chain can't be used (ChainMismatchError, WrongChainError)
 */
export async function startDaemon(config: Config, log: Logger): Promise<Daemon> {
  armFailpoint(config.failpoint)
  const applied = await migrate(config.databaseUrl)
  if (applied.length > 0) log.info({ migrations: applied }, 'migrated the database')
  const daemon = new RunningDaemon(config, log)
  try {
    await daemon.start()
    return daemon
  } catch (error) {
    await daemon.close()
    throw error
  }
}

class RunningDaemon {
  apiPort = 0
  opsPort = 0
  readonly #config: Config
  readonly #log: Logger
  readonly #stopping = new AbortController()
  readonly #metrics: Metrics
  readonly #outboxMetrics: OutboxMetrics
  readonly #writePool: pg.Pool
  readonly #readPool: pg.Pool
  #runs: IndexRun[] = []
  #relays: RelayRun[] = []
  #closeApi: () => Promise<void> = async () => {}
  #closeOps: () => Promise<void> = async () => {}
  #stopped: Promise<void> | null = null

  constructor(config: Config, log: Logger) {
    this.#config = config
    this.#log = log
    const { databaseUrl: url, databasePool } = config
    const onPoolError = (err: Error) => log.warn({ err }, 'a database connection broke')
    const writes = { url, max: WRITE_CONNECTIONS, applicationName: 'clusterd write', silenceLimitMs: WRITE_SILENCE_MS }
    this.#writePool = createPool({ ...writes, idleTransactionMs: FROZEN_MS }, onPoolError)
    const reads = { url, max: databasePool, applicationName: 'clusterd read', silenceLimitMs: READ_SILENCE_MS }
    this.#readPool = createPool({ ...reads, statementTimeoutMs: READ_TIMEOUT_MS }, onPoolError)
    this.#metrics = createMetrics(() => showChains(this.#metrics, this.#runs))
    this.#outboxMetrics = createOutboxMetrics(this.#metrics.registry, () => {
      for (const relay of this.#relays) showOutbox(this.#outboxMetrics, relay.state(), Date.now())
    })
  }

  async start(): Promise<void> {
    const opening = { pool: this.#writePool, log: this.#log, metrics: this.#metrics }
    const chains: OpenChain[] = []
    for (const chain of this.#config.chains) chains.push(await openChain(chain, opening))
    const clusters = await openClusters(this.#config, chains, opening)
    await this.#startApi(chains, clusters)
    for (const network of NETWORKS) {
      const ctx = { network, ...opening, databaseUrl: this.#config.databaseUrl, signal: this.#stopping.signal }
      const sources = {
        chains: chains.filter(({ chain }) => chain.network === network),
        solana: clusters.find(({ chain }) => chain.network === network) ?? null,
      }
      if (sources.chains.length === 0) continue
      this.#runs.push(runIndexers(ctx, sources))
      this.#startRelayer(ctx, sources)
    }
    await this.#startOps(chains)
    const { host } = this.#config
    const urls = { api: `http://${host}:${this.apiPort}`, ops: `http://127.0.0.1:${this.opsPort}` }
    this.#log.info(urls, 'clusterd is up')
  }

  /** Finishes requests and steps under way, releases locks. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopped ??= this.close().then(() => this.#log.info('clusterd has stopped'))
    return this.#stopped
  }

  /** Ends what was started, the pools last, within the time limit. */
  async close(): Promise<void> {
    this.#stopping.abort()
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, STOP_TIMEOUT_MS).unref())
    await Promise.race([this.#closeAll(), timeout])
  }

  async #closeAll(): Promise<void> {
    // requests under way end while the steps do: a chain that hangs delays neither
    const running = () => Promise.all([this.#closeApi(), ...[...this.#runs, ...this.#relays].map(({ done }) => done)])
    const pools = [() => this.#readPool.end(), () => this.#writePool.end()]
    for (const close of [running, ...pools, this.#closeOps])
      await close().catch((err: Error) => this.#log.warn({ err }, 'closing'))
  }

  async #startApi(chains: readonly OpenChain[], clusters: readonly OpenSolana[]): Promise<void> {
    const { airdropOperatorKey, relayerPrivateKey, port, host } = this.#config
    const relayer = relayerPrivateKey ? privateKeyToAccount(relayerPrivateKey) : null
    const api = createApi({
      pool: this.#readPool,
      chains: chains.map(({ chain }) => chain),
      solana: clusters.map(({ chain }) => chain),
      permissionSigner: airdropOperatorKey ? createPermissionSigner(airdropOperatorKey) : null,
      releaseSigner: relayer && ((word) => relayer.signTypedData(releaseTypedData(word))),
      config: this.#config,
      log: this.#log,
      metrics: this.#metrics,
    })
    const server = createServer(api.limits, api.app)
    api.protect(server)
    this.apiPort = await listen(server, port, host)
    this.#closeApi = () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
      })
  }

  /** Starts a network's relayer, where there is something to send. */
  #startRelayer(ctx: Context, { chains, solana }: Sources & { solana: OpenSolana | null }): void {
    const { network, log } = ctx
    const { targets, problem } = relayPlanOf(
      chains.map(({ chain, row }) => ({ chain, number: row.chain })),
      solana !== null,
    )
    if (problem) log.warn({ network }, problem)
    if (targets.length === 0) return
    const key = this.#config.relayerPrivateKey
    if (!key) log.info({ network }, 'RELAYER_PRIVATE_KEY is not set: packets are watched, nothing is sent or refunded')
    const run = runRelayer({
      ...ctx,
      targets,
      account: key ? privateKeyToAccount(key) : null,
      settings: this.#config.deliveries[network],
      solana: solana?.payer,
      onOutcome: (job, outcome) => countOutcome(this.#outboxMetrics, job, outcome),
    })
    this.#relays.push(run)
  }

  async #startOps(chains: readonly OpenChain[]): Promise<void> {
    const watchOnly = chains.filter(({ chain }) => chain.config.watchOnly).map(({ chain }) => chain.label)
    const ops = await startOpsServer({
      port: this.#config.opsPort,
      metrics: this.#metrics,
      ready: async () => ({ ...(await this.#readiness()), watchOnly }),
    })
    this.#closeOps = ops.close
    this.opsPort = ops.port
  }

  async #readiness() {
    const isDatabaseUp = await isReachable(this.#readPool)
    const states = this.#runs.flatMap((run) => run.states())
    return {
      ...readiness(states, isDatabaseUp, Date.now()),
      chains: states.map(({ state }) => state),
      deliveries: this.#relays
        .flatMap((relay) => relay.state().relayers)
        .filter(({ stuck }) => stuck !== null)
        .map(summaryOf),
    }
  }
}

/** A network's deliveries in the answer of /ready; none of it makes the daemon unready. */
function summaryOf({ network, stats, stuck }: RelayerState) {
  const count = (isCounted: (jobs: OpenJobs) => boolean): number | null =>
    stats?.open.filter(isCounted).reduce((sum, jobs) => sum + jobs.count, 0) ?? null
  return {
    network,
    underWay: count(({ state }) => state !== 'parked'),
    parked: count(({ state }) => state === 'parked'),
    stranded: stuck,
  }
}

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
