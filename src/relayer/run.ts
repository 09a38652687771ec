import type pg from 'pg'
import { whileLeading } from '../db/leaders/lead.js'
import { type Listener, parseNotificationPayload } from '../db/pg/notify.js'
import type { NetworkContext } from '../ops/context.js'
import { createLoopWaker, type LoopWaker } from '../ops/waiting.js'
import { IDLE_POLL_MS, runWorkers, type Worker } from '../ops/worker.js'
import type { Network } from '../registry/primitives/network.js'
import { type ChainRelayer, type ChainRelayerOptions, jobLogFields } from './chainRelayer.js'
import { logJobOutcome, type OutboxState } from './report.js'

/** Maximum number of consecutive steps without a pause, so that nodes that disagree can't make the loop spin. */
const MAX_BUSY_STEPS = 50

/** A chain on which the relayer sends transactions. */
export interface RelayerChain {
  readonly label: string
  /**
   * True for a chain that is relayed only beside another chain: its payments for names need deliveries at the hub.
   */
  readonly followsOthers: boolean
  /** Pause of the worker after a `waiting` step, ms. */
  readonly pollMs: number
  /**
   * Opens the relayer for one term as leader. Called by the first step of the chain's worker, so that an unavailable
   * chain does not delay other chains.
   * @throws ChainUnavailableError
   */
  open(options: ChainRelayerOptions): Promise<ChainRelayer>
}

interface RelayRunOptions extends Omit<NetworkContext, 'metrics'> {
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
  /** State of the outbox. Null while this process does not lead it. */
  state(): OutboxState | null
  /** Resolves when the run has ended after its signal. */
  done: Promise<void>
}

/**
 * Runs a network's outbox while this process leads it, until the signal. One leader per network means one writer per
 * (chain, signer), since each such pair belongs to one network. The indexer and the operator wake the workers, and any
 * block wakes workers with unfinished jobs. Otherwise the workers poll. The relayers have no timers of their own.
 */
export function runRelayer(options: RelayRunOptions): RelayRun {
  const { network, log, loops, signal, leases, listener, missingKeys } = options
  let leadership: { workers: readonly RelayWorker[]; state(): OutboxState } | null = null

  listener.subscribe((payload) => {
    const heard = parseNotificationPayload(network, payload)
    if (heard) for (const { notify } of leadership?.workers ?? []) notify[heard]()
  })
  const onError = (err: Error) =>
    log.error({ network, err }, 'the outbox stopped; trying to lead again')
  const done = whileLeading(
    { leases, listener, network, role: 'relay', signal, loops, log, onError },
    async (epoch, stopped) => {
      const chains = options.chains.map(({ label }) => label)
      log.info({ network, chains, delivers: options.delivers, epoch }, 'leading the outbox')
      const workers = options.chains.map((chain) => createRelayWorker(chain, options, epoch))
      const state = (): OutboxState => {
        const relayers = workers.flatMap(({ relayer }) => relayer()?.state ?? [])
        return { network, missingKeys, relayers }
      }
      leadership = { workers, state }
      try {
        await runWorkers(workers, { log, loops, signal: stopped })
      } finally {
        leadership = null
      }
    },
  )
  return { network, state: () => leadership?.state() ?? null, done }
}

interface RelayWorker extends Worker {
  readonly notify: LoopWaker
  /** Null until a step has opened the relayer. */
  relayer(): ChainRelayer | null
}

/** Creates the worker of one chain for one term as leader. */
function createRelayWorker(
  { label, pollMs, open }: RelayerChain,
  { pool, network, log, loops }: RelayRunOptions,
  epoch: number,
): RelayWorker {
  const name = 'the relayer'
  const fields = { network, chain: label }
  const options: ChainRelayerOptions = {
    pool,
    network,
    epoch,
    onOutcome: (row, outcome) => logJobOutcome(log, row, outcome, Date.now()),
    onNodeError: (row, err) =>
      log[row.failures === 0 ? 'info' : 'debug'](
        { network, ...jobLogFields(row), err },
        'a node failed a job',
      ),
    onInternalError: (error, about) =>
      loops.internalErrors.report({ name, ...fields }, error, log, about),
  }
  let relayer: ChainRelayer | null = null
  return {
    name,
    fields,
    pollMs,
    idleMs: IDLE_POLL_MS,
    maxBusySteps: MAX_BUSY_STEPS,
    notify: createLoopWaker(),
    relayer: () => relayer,
    async step(_, alive) {
      relayer ??= await open(options)
      return relayer.step(alive)
    },
  }
}
