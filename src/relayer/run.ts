import type pg from 'pg'
import { whileLeading } from '../db/leaders/lead.js'
import { type Listener, parseNotificationPayload } from '../db/pg/notify.js'
import type { NetworkContext } from '../ops/context.js'
import { createWakeUp, type WakeUp } from '../ops/notify.js'
import type { ProcessPartName } from '../ops/ownErrors.js'
import { IDLE_POLL_MS, runWorkers, type Worker } from '../ops/worker.js'
import type { Network } from '../registry/primitives/network.js'
import { type ChainRelayerOptions, jobLogFields } from './chainRelayer.js'
import type { RelayerState } from './relayerTelemetry.js'
import { createAlarmLog, logJobOutcome, type OutboxState, outboxProblems } from './report.js'

/** Maximum number of consecutive steps without a pause, so that nodes that disagree can't make the loop spin. */
const MAX_BUSY_STEPS = 50

/** Dependencies that the leading process gives to a relayer's worker. */
export interface RelayerWorkerContext extends Pick<NetworkContext, 'network' | 'log'> {
  /** @param at name of the loop under which errors of our own code are counted */
  optionsAt(at: ProcessPartName): ChainRelayerOptions
  /** Makes `RelayRun.state()` include this state of a chain's relayer from now on. */
  show(state: RelayerState): void
}

/** A chain on which the relayer sends transactions. */
export interface RelayerChain {
  readonly label: string
  /**
   * True if the chain's jobs only follow from deliveries. A network without deliveries then has no jobs on the chain.
   */
  readonly followsOthers: boolean
  /** Creates the worker for one term as leader. */
  worker(led: RelayerWorkerContext): Pick<Worker, 'name' | 'fields' | 'pollMs' | 'step'>
}

export interface RelayRunOptions extends Omit<NetworkContext, 'metrics'> {
  /** Chains on which the relayer sends transactions, the hub first. */
  chains: readonly RelayerChain[]
  /** True if this process has the key that pays for deliveries at the hub. */
  delivers: boolean
  missingKeys: readonly string[]
  leases: pg.Pool
  listener: Listener
}

export interface RelayRun {
  readonly network: Network
  /** State of the outbox. Null while another process leads it. */
  state(): OutboxState | null
  /** Resolves when the run has ended after its signal. */
  done: Promise<void>
}

/**
 * Runs a network's outbox while this process leads it, until the signal. One leader per network means one writer per
 * (chain, signer), since each such pair belongs to one network. The indexer and the operator wake the workers, and any
 * block wakes workers with unfinished jobs. Otherwise the workers poll. All timers are here.
 */
export function runRelayer(options: RelayRunOptions): RelayRun {
  const { network, log, loops, signal, leases, listener } = options
  let led: LedOutbox | null = null

  listener.subscribe((payload) => {
    const heard = parseNotificationPayload(network, payload)
    if (heard) led?.wake(heard)
  })
  const onError = (err: Error) =>
    log.error({ network, err }, 'the outbox stopped; trying to lead again')
  const done = whileLeading(
    { leases, listener, network, role: 'relay', signal, loops, log, onError },
    async (epoch, stopped) => {
      const chains = options.chains.map(({ label }) => label)
      log.info({ network, chains, delivers: options.delivers, epoch }, 'leading the outbox')
      led = new LedOutbox(options, epoch)
      try {
        await runWorkers(led.workers, { log, loops, signal: stopped })
      } finally {
        led = null
      }
    },
  )
  return { network, state: () => led?.state ?? null, done }
}

/** The outbox while this process leads it: a worker for each chain. */
class LedOutbox {
  readonly workers: readonly Worker[]
  state: OutboxState
  readonly #options: RelayRunOptions
  readonly #epoch: number
  readonly #notifies = new Set<WakeUp>()
  readonly #logAlarms: ReturnType<typeof createAlarmLog>

  constructor(options: RelayRunOptions, epoch: number) {
    const { log, network, chains, missingKeys } = options
    this.#options = options
    this.#epoch = epoch
    this.#logAlarms = createAlarmLog(log, network)
    this.state = { network, missingKeys, relayers: [] }
    const led: RelayerWorkerContext = {
      network,
      log,
      optionsAt: (at) => this.#relayerOptions(at),
      show: (state) => {
        this.state = { ...this.state, relayers: [...this.state.relayers, state] }
      },
    }
    this.workers = chains.map((source) => {
      const worker = source.worker(led)
      return { ...worker, ...this.#workerOptions() }
    })
  }

  wake(heard: 'notify' | 'block'): void {
    for (const notify of this.#notifies) notify[heard]()
  }

  #relayerOptions(at: ProcessPartName): ChainRelayerOptions {
    const { pool, network, log, loops } = this.#options
    return {
      pool,
      network,
      epoch: this.#epoch,
      onOutcome: (row, outcome) => logJobOutcome(log, row, outcome, Date.now()),
      onNodeError: (row, err) =>
        log[row.failures === 0 ? 'info' : 'debug'](
          { network, ...jobLogFields(row), err },
          'a node failed a job',
        ),
      onOwnError: (error, about) => loops.ownErrors.report(at, error, log, about),
    }
  }

  #workerOptions() {
    const notify = createWakeUp()
    this.#notifies.add(notify)
    const check = () => this.#logAlarms(outboxProblems(this.state, Date.now()))
    return { notify, idleMs: IDLE_POLL_MS, maxBusySteps: MAX_BUSY_STEPS, check }
  }
}
