import type pg from 'pg'
import type { SolanaSigner } from '../chains/solana/signer.js'
import type { JobRow } from '../db/outbox/rows.js'
import { whileLeading } from '../db/pg/leader.js'
import { heardBy, type Listener } from '../db/pg/notify.js'
import { alarmFields } from '../ops/alarms.js'
import type { Logger } from '../ops/log/log.js'
import type { Loops } from '../ops/loops.js'
import { createNotify, type Notify } from '../ops/notify.js'
import { IDLE_POLL_MS, runWorkers, type Worker } from '../ops/worker.js'
import type { Network } from '../registry/primitives/network.js'
import { Relayer, type RelayerOptions } from './relayer.js'
import type { OutboxState } from './report/metrics.js'
import { OutboxLog } from './report/outboxLog.js'
import { outboxProblems } from './report/problems.js'
import { SolanaRelayer } from './solanaRelayer.js'
import type { Outcome } from './step.js'
import type { RelayTarget } from './targets.js'

/** Upper bound on consecutive steps without a pause, so that nodes that disagree can't make the loop spin. */
const MAX_BUSY_STEPS = 50

/** A network's Solana cluster, as far as the outbox goes. */
export interface SolanaRelayerSource {
  /** Null without the relay authority's key. */
  signer: SolanaSigner | null
  autoRefunds: boolean
  /** Age from which what is final is released, ms. */
  releaseAfterMs: number
  pollMs: number
  /**
   * Finds the program's chain number; asks the cluster when it was never reached before.
   * @throws ChainUnavailableError
   */
  open(): Promise<{ chain: number }>
}

export interface RelayRunOptions extends Pick<RelayerOptions, 'pool' | 'network' | 'account' | 'settings' | 'clock'> {
  /** The chains on which transactions are sent, the hub first. */
  targets: readonly RelayTarget[]
  /** The network's Solana cluster, if any. */
  solana?: SolanaRelayerSource | undefined
  /** Gets each step of each job, with what is stored after it. */
  onOutcome?: (job: JobRow, outcome: Pick<Outcome, 'outcome'>) => void
  missingKeys: readonly string[]
  leases: pg.Pool
  listener: Listener
  log: Logger
  loops: Loops
  signal: AbortSignal
}

export interface RelayRun {
  readonly network: Network
  /** Names of the keys that this process lacks for what the network has to send. */
  readonly missingKeys: readonly string[]
  /** Whether this process leads. */
  leads(): boolean
  /** The state of this process's workers; empty while another process leads. */
  state(): OutboxState
  /** Settles when the run has ended after its signal. */
  done: Promise<void>
}

/**
 * Runs a network's outbox while this process leads it, until the signal. One leader per network means one writer per
 * (chain, signer), since each of those belongs to one network. What is indexed and the operator wake the workers, any
 * block those with jobs under way; the chains' poll intervals are the floor. Timers live here and nowhere below.
 */
export function runRelayer(options: RelayRunOptions): RelayRun {
  const { network, log, loops, signal, leases, listener, account, targets, missingKeys } = options
  const notifies = new Set<Notify>()
  const idle: OutboxState = { network, relayers: [], payer: null }
  let state = idle
  let leads = false
  listener.hear((payload) => {
    const heard = heardBy(network, payload)
    if (heard) for (const told of notifies) told[heard]()
  })
  const done = whileLeading(
    {
      ...{ leases, listener, network, role: 'relay', signal, loops },
      onError: (err) => log.error({ network, err }, 'the outbox stopped; trying to lead again'),
    },
    async (epoch, stopped) => {
      const labels = targets.map(({ at }) => at.chain.label)
      log.info({ network, chains: labels, delivers: account !== null, epoch }, 'leading the outbox')
      if (missingKeys.length > 0)
        log.error(
          { network, missingKeys, ...alarmFields('ClusterdRelayKeyMissing') },
          'what these keys pay for is not sent',
        )
      const nowMs = options.clock?.nowMs ?? Date.now
      const outboxLog = new OutboxLog(log, network, nowMs)
      const check = () => outboxLog.problems(outboxProblems(state, nowMs()))
      const relayers = targets.map((target) => relayerAt(options, target, outboxLog, epoch))
      state = { ...idle, relayers: relayers.map((relayer) => relayer.state) }
      const workers = relayers.map((relayer, i) => relayWorker(relayer, targets[i]!, check))
      if (options.solana)
        workers.push(
          payWorker(options, options.solana, { outboxLog, epoch, check }, (payer) => {
            state = { ...state, payer: payer.state }
          }),
        )
      for (const { notify } of workers) if (notify) notifies.add(notify)
      leads = true
      try {
        await runWorkers(workers, { log, loops, signal: stopped })
      } finally {
        leads = false
        state = idle
        notifies.clear()
      }
    },
  )
  return { network, missingKeys, leads: () => leads, state: () => state, done }
}

function relayerAt(options: RelayRunOptions, target: RelayTarget, outboxLog: OutboxLog, epoch: number): Relayer {
  const { pool, network, account, settings, clock } = options
  return new Relayer({
    ...{ ...target, pool, network, account, settings, clock, epoch },
    onStuck: (messages) => outboxLog.stuck(messages),
    onOutcome: (row, outcome) => {
      outboxLog.outcome(row, outcome)
      options.onOutcome?.(row, outcome)
    },
  })
}

function relayWorker(relayer: Relayer, { at }: RelayTarget, check: () => void): Worker {
  const { network, chain } = relayer.state
  return {
    name: 'the relayer',
    fields: { network, chain },
    pollMs: at.chain.config.pollMs,
    idleMs: IDLE_POLL_MS,
    notify: createNotify(),
    maxBusySteps: MAX_BUSY_STEPS,
    step: () => relayer.step(),
    check,
  }
}

/** Says whose decisions the program obeys: a key that was rotated decides nothing. */
async function reportAuthority({ log, network }: RelayRunOptions, signer: SolanaSigner): Promise<void> {
  const [authority, obeyed] = [signer.authority.toBase58(), (await signer.relayAuthority())?.toBase58() ?? null]
  if (authority === obeyed) log.info({ network, authority }, 'deciding payments on Solana')
  else log.error({ network, authority, obeyed }, "the relay authority's key is not the one that the program obeys")
}

/** The worker of a network's Solana cluster. A cluster that is away delays no other worker. */
function payWorker(
  options: RelayRunOptions,
  source: SolanaRelayerSource,
  { outboxLog, epoch, check }: { outboxLog: OutboxLog; epoch: number; check: () => void },
  onStart: (payer: SolanaRelayer) => void,
): Worker {
  const { pool, network, clock, log } = options
  const { signer, autoRefunds, releaseAfterMs } = source
  let payer: SolanaRelayer | null = null
  const open = async (): Promise<SolanaRelayer> => {
    const { chain } = await source.open()
    if (signer) await reportAuthority(options, signer)
    else log.info({ network }, "without the relay authority's key payments are neither settled nor refunded")
    const opened = new SolanaRelayer({
      ...{ pool, network, epoch, clock, chain, signer, autoRefunds, releaseAfterMs },
      onOutcome: (row, outcome) => {
        outboxLog.outcome(row, outcome)
        options.onOutcome?.(row, outcome)
      },
    })
    onStart(opened)
    return opened
  }
  return {
    name: 'the payer',
    fields: { network },
    pollMs: source.pollMs,
    idleMs: IDLE_POLL_MS,
    notify: createNotify(),
    async step(_, alive) {
      payer ??= await open()
      return payer.step(alive)
    },
    check,
  }
}
