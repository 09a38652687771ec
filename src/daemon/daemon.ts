import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Api } from '../api/server.js'
import { createClaimPermissionSigner } from '../chains/evm/airdrop/distributor.js'
import { createSigningAccount } from '../chains/evm/relayerAccount.js'
import type { Config } from '../config/index.js'
import { createRestoreDetector } from '../db/deployment/restored.js'
import { createNameMoveWorker } from '../db/journal/moves.js'
import { createLeasePool } from '../db/leaders/lead.js'
import type { LeaderRole } from '../db/leaders/leaders.js'
import { readMirroredNetworks } from '../db/mirror/mirrors.js'
import { createSchemaCheck } from '../db/pg/migrate.js'
import { createListener, type Listener } from '../db/pg/notify.js'
import { createPool, dropConnections, FROZEN_CLIENT_MS } from '../db/pg/pool.js'
import { type NetworkIndexRun, runIndexers } from '../indexer/run.js'
import { type NetworkMirrorRun, runMirror } from '../mirror/run.js'
import type { LeaderContext, NetworkContext } from '../ops/context.js'
import { FailedRequestCounter } from '../ops/failedRequests.js'
import type { Logger } from '../ops/logger/logger.js'
import { WorkerLoops } from '../ops/loops.js'
import { createMetrics } from '../ops/metrics.js'
import { listenOnPort, startOpsServer } from '../ops/port/server.js'
import { IDLE_POLL_MS, runWorkers, type Worker } from '../ops/worker.js'
import { ChangeNotifications } from '../push/changeNotifications.js'
import { runWebhooks } from '../push/webhooks/run.js'
import { paymentReleaseTypedData } from '../registry/community/release.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'
import { type RelayRun, runRelayer } from '../relayer/run.js'
import type { DaemonChainFamily, OpenedChain } from './families/family.js'
import { CHAIN_FAMILIES } from './families/index.js'
import { createMaintenanceWorkers } from './maintenance.js'
import { registerSnapshotMetrics } from './metrics.js'
import { renderOpsPage } from './opsPage.js'
import { createAlarmLogWorker, type ProcessSnapshot } from './snapshot.js'
import { checkProcessHealth, checkProcessReadiness, installationStatus } from './status.js'

/** Statement timeout of the API's reads in the database. */
const READ_TIMEOUT_MS = 10_000
/** Longest time for which this process waits for PostgreSQL's answer to a read of the API. */
const READ_LIMIT_MS = 12_000
/** Longest time for which this process waits for PostgreSQL's answer to a query of a worker. */
const WRITE_LIMIT_MS = 60_000
/** Longest time for which a stop waits for running requests and worker steps. */
export const STOP_TIMEOUT_MS = 8_000
/** Pool size of the workers' writes: a connection for each indexer and for each relayer's transaction. */
const WRITE_CONNECTIONS = 8

/** The daemon: chains, indexers, relayers, API, operator's port. Expects a migrated database. */
export class Daemon {
  apiPort = 0
  opsPort = 0
  readonly #config: Config
  readonly #log: Logger
  readonly #families: readonly DaemonChainFamily[]
  #chains: readonly OpenedChain[] = []
  readonly #stopping = new AbortController()
  readonly #metrics = createMetrics()
  readonly #writePool: pg.Pool
  readonly #readPool: pg.Pool
  readonly #loops = new WorkerLoops()
  readonly #failedRequests = new FailedRequestCounter()
  /** Networks whose chains need a relayer, whether or not this process relays for them. */
  readonly #relayedNetworks = new Set<Network>()
  #indexRuns: NetworkIndexRun[] = []
  #relayRuns: RelayRun[] = []
  readonly #mirrorRuns: NetworkMirrorRun[] = []
  readonly #nameProofsDone: Promise<void>[] = []
  #api: Pick<Api, 'changesWaiting' | 'openLongRequests' | 'release'> | null = null
  #webhooksDone: Promise<void> = Promise.resolve()
  readonly #alarmLog: Worker
  /** Rejects with one sentence once a newer version of clusterd needs the database for itself. */
  outdated: Promise<void> = Promise.resolve()
  #isStopping = false
  readonly #leasePool: pg.Pool
  #closeApi: () => Promise<void> = async () => {}
  #closeOps: () => Promise<void> = async () => {}
  readonly #listener: Listener
  #stopped: Promise<void> | null = null

  constructor(config: Config, log: Logger, families = CHAIN_FAMILIES) {
    this.#config = config
    this.#log = log
    this.#families = families
    const { databaseUrl: url, databaseDirectUrl, databasePool } = config
    const common = { url, isPooled: url !== databaseDirectUrl, idleTransactionMs: FROZEN_CLIENT_MS }
    const onPoolError = (err: Error) => log.warn({ err }, 'a database connection broke')
    const writes = {
      max: WRITE_CONNECTIONS,
      applicationName: 'clusterd write',
      queryLimitMs: WRITE_LIMIT_MS,
    }
    this.#writePool = createPool({ ...common, ...writes }, onPoolError)
    const reads = {
      max: databasePool,
      applicationName: 'clusterd read',
      queryLimitMs: READ_LIMIT_MS,
    }
    this.#readPool = createPool(
      { ...common, ...reads, statementTimeoutMs: READ_TIMEOUT_MS, isByIndex: true },
      onPoolError,
    )
    this.#leasePool = createLeasePool(databaseDirectUrl)
    this.#listener = createListener({
      url: databaseDirectUrl,
      signal: this.#stopping.signal,
      loops: this.#loops,
      onError: (err) => log.debug({ err }, 'listening to the database'),
      // a fault that broke or silenced the listener's connection has probably affected the pools' connections. After a
      // fail-over, connections that only read would otherwise stay on the old primary
      onRenewed: () => [this.#readPool, this.#writePool, this.#leasePool].forEach(dropConnections),
      onWake: createRestoreDetector(this.#writePool, (network) =>
        this.#loops.reportLostCommits(network),
      ),
    })
    this.#alarmLog = createAlarmLogWorker(log, () => this.#snapshot(), this.#loops.lostCommitsWaker)
    registerSnapshotMetrics(this.#metrics.registry, () => this.#snapshot())
  }

  /**
   * Opens the chains, and starts what the roles require.
   * @throws Error with one sentence when a chain can't be used, or the database does not allow the roles
   */
  async start(): Promise<void> {
    const { roles } = this.#config
    const opening = {
      pool: this.#writePool,
      log: this.#log,
      metrics: this.#metrics,
      loops: this.#loops,
    }
    const mirrored = await readMirroredNetworks(this.#writePool)
    if (mirrored.size > 0 && roles.some((role) => role !== 'api'))
      throw new Error('The database is a mirror’s, and is only read: start with `--roles api`.')
    await this.#startMirrors(opening, mirrored.size === 0)
    for (const family of this.#families) {
      const opened = await family.open(this.#config, opening, this.#chains)
      this.#chains = [...this.#chains, ...opened]
    }
    for (const network of NETWORKS) {
      const ctx = { network, ...opening, signal: this.#stopping.signal }
      const chains = this.#chains.filter(({ port }) => port.network === network)
      if (chains.length === 0) continue
      const sources = {
        chains,
        maintenance: (leader: LeaderContext) => [
          ...createMaintenanceWorkers(leader, this.#config.isSqlServed),
          createNameMoveWorker(leader),
        ],
        log: {
          domain: this.#config.serviceDomain,
          keys: this.#config.logKeys,
          witnesses: this.#config.logWitnesses,
        },
      }
      if (roles.includes('index'))
        this.#indexRuns.push(
          runIndexers(ctx, sources, { leases: this.#leasePool, listener: this.#listener }),
        )
      this.#startRelayer(ctx, chains)
      const proofs = chains.flatMap(({ proof }) => proof ?? [])
      if (proofs.length > 0 && !roles.includes('index'))
        this.#nameProofsDone.push(runNameProofs(proofs, ctx))
    }
    const checkSchema = createSchemaCheck(this.#writePool)
    const schemaWorker: Worker = {
      name: 'the schema check',
      fields: {},
      pollMs: IDLE_POLL_MS,
      step: () => checkSchema().then(() => 'idle'),
    }
    this.outdated = runWorkers([this.#alarmLog, schemaWorker], {
      ...opening,
      signal: this.#stopping.signal,
    })
    // the caller handles a rejection only after the start: until then, it would end the process as an unhandled one
    this.outdated.catch(() => {})
    // the API loads while the indexers take their leases
    if (roles.includes('api')) await this.#startApi()
    await this.#startOps()
    const { host, opsHost } = this.#config
    const api = roles.includes('api') ? { api: `http://${host}:${this.apiPort}` } : {}
    this.#log.info({ ...api, ops: `http://${opsHost}:${this.opsPort}`, roles }, 'clusterd is up')
  }

  async #startMirrors(
    opening: Omit<NetworkContext, 'network' | 'signal'>,
    isNew: boolean,
  ): Promise<void> {
    const { mirror, isSqlServed } = this.#config
    if (!mirror) return
    for (const network of mirror.networks) {
      // most services have no testnet: the testnet is copied where the source has it, and required only if the operator
      // named it
      const isExpected = network === 'mainnet' || mirror.networks.length === 1
      const ctx = { network, ...opening, signal: this.#stopping.signal }
      const at = { leases: this.#leasePool, listener: this.#listener }
      const maintenance = (leader: LeaderContext) => createMaintenanceWorkers(leader, isSqlServed)
      const settings = { source: mirror, maintenance, isExpected, isNew }
      this.#mirrorRuns.push(await runMirror(ctx, settings, at))
    }
  }

  /**
   * Stops the daemon: reports not ready, waits `drainMs` for load balancers, then closes. Running requests and steps
   * finish. Idempotent.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#drain()
      .then(() => this.close())
      .then(() => this.#log.info('clusterd has stopped'))
    return this.#stopped
  }

  /** Keeps answering requests until load balancers have noticed that this process is not ready. */
  async #drain(): Promise<void> {
    this.#isStopping = true
    this.#api?.release()
    const { drainMs } = this.#config
    if (drainMs > 0) this.#log.info({ ms: drainMs }, 'stopping: no longer ready')
    await sleep(drainMs)
  }

  /** Closes all parts within `STOP_TIMEOUT_MS`: requests and workers, then the pools, then the operator's port. */
  async close(): Promise<void> {
    // the alarm log's last step: the alarms of workers are gone once the workers have stopped
    await this.#alarmLog
      .step(this.#stopping.signal, () => {})
      .catch((err: Error) => this.#log.warn({ err }, 'closing'))
    this.#stopping.abort()
    const timeout = new Promise<void>((resolve) => setTimeout(resolve, STOP_TIMEOUT_MS).unref())
    await Promise.race([this.#closeAll(), timeout])
  }

  async #closeAll(): Promise<void> {
    // waits for requests and steps in parallel, so a step that a hanging chain delays does not delay the API's end
    const loops = () =>
      [...this.#indexRuns, ...this.#mirrorRuns, ...this.#relayRuns].map(({ done }) => done)
    const running = () =>
      Promise.all([
        this.#closeApi(),
        this.#listener.done,
        this.#webhooksDone,
        this.outdated,
        ...this.#nameProofsDone,
        ...loops(),
      ])
    const pools = [this.#readPool, this.#writePool, this.#leasePool].map((pool) => () => pool.end())
    for (const close of [running, ...pools, this.#closeOps])
      await close().catch((err: Error) => this.#log.warn({ err }, 'closing'))
  }

  async #startApi(): Promise<void> {
    const { airdropOperatorKey, relayerKey, ensKey, ens, port, host, mirror } = this.#config
    const cosigner = mirror?.cosigner
    const relayer = relayerKey ? createSigningAccount(relayerKey) : null
    const gateway =
      ensKey &&
      (await import('../ens/gateway.js')).createEnsGateway(
        ens,
        createSigningAccount(ensKey).signTypedData,
      )
    const primaryNames =
      ensKey && (await import('../ens/primary.js')).createPrimaryNameTransactionsBuilder(ens)
    const { createApi } = await import('../api/server.js')
    const witnessRoutes =
      cosigner &&
      (await import('../api/v1/witness.js')).witnessRoutes({ key: mirror!.key, cosigner })
    const { addTestWallet, setPageServiceInfo } = await import('../web/page.js')
    const isLocal = this.#config.chains.every(({ local }) => local)
    const facts = {
      isLocal,
      ens: gateway ? { mainnet: ens.mainnet?.parent, testnet: ens.testnet?.parent } : {},
      networks: NETWORKS.filter(
        (network) =>
          mirror?.networks.includes(network) ||
          this.#chains.some(({ port }) => port.network === network),
      ),
    }
    const { siteUrl, securityContact } = this.#config
    setPageServiceInfo(facts, { url: siteUrl.replace(/\/+$/, ''), securityContact })
    if (this.#config.hasTestWallet)
      await addTestWallet(
        this.#families.flatMap((family) => family.testWallet?.(this.#config) ?? []),
        isLocal,
      )
    const notifications = new ChangeNotifications()
    this.#listener.subscribe(notifications.onNotify)
    const api = createApi({
      notifications,
      pool: this.#readPool,
      chains: this.#chains.map(({ port }) => port),
      shareKeys: this.#config.shareKeys,
      siteUrl,
      moreRoutes: [
        ...this.#families.flatMap(({ routes = [] }) => routes),
        ...(witnessRoutes ?? []),
      ],
      permissionSigner: airdropOperatorKey ? createClaimPermissionSigner(airdropOperatorKey) : null,
      ens: gateway ?? null,
      primaryNames: primaryNames ?? null,
      releaseSigner: relayer && ((word) => relayer.signTypedData(paymentReleaseTypedData(word))),
      // readConfig requires the key where the API runs
      config: { ...this.#config, tokenKey: this.#config.tokenKey! },
      limits: this.#config.limits,
      trustProxy: this.#config.trustProxy,
      keepAliveMs: this.#config.keepAliveMs,
      log: this.#log,
      metrics: this.#metrics,
      failed: this.#failedRequests,
      onInternalError: (error, about) =>
        this.#loops.internalErrors.report({ name: 'the API' }, error, this.#log, about),
    })
    const server = createServer(api.limits, api.listener)
    api.protect(server)
    this.#api = api
    const webhooks = runWebhooks({
      pool: this.#writePool,
      log: this.#log,
      loops: this.#loops,
      signal: this.#stopping.signal,
      readFeed: api.readFeed,
      allowsPrivate: this.#config.webhooksPrivate,
    })
    for (const network of NETWORKS) notifications.on(network, webhooks.notify)
    this.#webhooksDone = webhooks.done
    this.apiPort = await listenOnPort(server, port, host)
    this.#closeApi = () =>
      new Promise((resolve) => {
        api.close()
        server.close(() => resolve())
        server.closeIdleConnections()
      })
  }

  /**
   * Starts a network's relayer, if the network's chains need one, this process has the role `relay`, and a key is given
   * or `relayWatch` is set.
   */
  #startRelayer(ctx: NetworkContext, opened: readonly OpenedChain[]): void {
    const { network, log } = ctx
    const { roles, relayWatch, relayerKey } = this.#config
    const parts = this.#families.flatMap(
      (family) => family.relay?.(opened, this.#config, network) ?? [],
    )
    for (const { problem } of parts) if (problem) log.warn({ network }, problem)
    const chains = parts.flatMap(({ sources }) => sources)
    if (chains.every(({ followsOthers }) => followsOthers)) return
    this.#relayedNetworks.add(network)
    if (!roles.includes('relay')) return
    const payers = parts.filter(({ sources }) => sources.length > 0)
    const missingKeys = payers.filter(({ hasKey }) => !hasKey).map(({ keyFrom }) => keyFrom)
    if (missingKeys.length === payers.length && !relayWatch) {
      log.warn(
        { network, missingKeys },
        'without these keys this process never relays; --watch lets it look on',
      )
      return
    }
    const run = runRelayer({
      ...ctx,
      leases: this.#leasePool,
      listener: this.#listener,
      chains,
      delivers: relayerKey !== undefined,
      missingKeys,
    })
    this.#relayRuns.push(run)
  }

  async #startOps(): Promise<void> {
    const { opsPort: port, opsHost: host, opsToken: secret } = this.#config
    const pool = this.#readPool
    const answers = {
      '/health': () => checkProcessHealth(this.#snapshot()),
      '/ready': () => checkProcessReadiness(this.#snapshot(), pool),
      '/status': () => installationStatus(this.#snapshot(), pool),
    }
    const page = () => renderOpsPage(this.#snapshot(), pool)
    const ops = await startOpsServer({ port, host, metrics: this.#metrics, answers, page, secret })
    this.#closeOps = ops.close
    this.opsPort = ops.port
  }

  #snapshot(): ProcessSnapshot {
    const runs = [...this.#indexRuns, ...this.#mirrorRuns]
    const states = runs.flatMap((run) => run.states() ?? [])
    const outboxes = this.#relayRuns.flatMap((relay) => relay.state() ?? [])
    return {
      nowMs: Date.now(),
      config: this.#config,
      isStopping: this.#isStopping,
      chains: this.#chains.map(({ port: { network, label, role }, nodes }) => ({
        network,
        label,
        role,
        state: states.find((state) => state.network === network && state.label === label) ?? null,
        nodes: nodes(),
      })),
      leads: [
        ...runs.map(({ network, states }) => leadOf(network, 'index', states())),
        ...this.#relayRuns.map(({ network, state }) => leadOf(network, 'relay', state())),
      ],
      mirrors: this.#mirrorRuns.map(({ network, problem }) => ({ network, problem: problem() })),
      outboxes,
      relayed: [...this.#relayedNetworks],
      loops: this.#loops.states(),
      internalErrors: this.#loops.internalErrors.counts(),
      raised: this.#loops.alarms(),
      failedRoutes: this.#failedRequests.routes(),
      pools: { read: this.#readPool, write: this.#writePool },
      changesWaiting: this.#api?.changesWaiting() ?? 0,
      openLongRequests: this.#api?.openLongRequests() ?? {},
    }
  }
}

/** Runs the proofs of names until the signal. They start again after a step that hung. */
async function runNameProofs(proofs: readonly Worker[], context: NetworkContext): Promise<void> {
  const { network, log, signal } = context
  while (!signal.aborted)
    await runWorkers(proofs, context).catch((err: Error) => {
      if (!signal.aborted)
        log.error({ network, err }, 'the proof of the names stopped; it starts again')
    })
}

/** A role of this process on a network, for the snapshot. @param state null while another process leads */
const leadOf = (network: Network, role: LeaderRole, state: object | null) => ({
  network,
  role,
  isLeading: state !== null,
})
