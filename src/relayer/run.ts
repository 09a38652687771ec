import { LostLeadershipError } from '../db/journal/head.js'
import { whileLeading } from '../db/pg/leader.js'
import { listenTo } from '../db/pg/listen.js'
import type { Logger } from '../ops/log.js'
import { createNotify, type Notify } from '../ops/notify.js'
import { pauseAfterError } from '../ops/worker.js'
import { type Alarms, createAlarms } from './alarms.js'
import type { PayerOptions, PayerState } from './payouts/payer.js'
import { type PayoutSource, runPayer } from './payouts/run.js'
import { createRelayer, type Relayer, type RelayerOptions, type RelayerState } from './relayer.js'
import type { Place } from './route.js'

/** After so many steps on end that stored something, it waits all the same: nodes that contradict each other cost no full speed. */
const MAX_BUSY_STEPS = 50

export interface RelayRunOptions extends Omit<RelayerOptions, 'epoch' | 'onStranded' | keyof Place> {
  /** Where there is something to do, the hub first. */
  places: readonly Place[]
  /** The network's Solana cluster, where there is one. */
  payouts?: PayoutSource | undefined
  /** Told of each change of each payout, with what is stored after it. */
  onPayout?: NonNullable<PayerOptions['onOutcome']>
  databaseUrl: string
  log: Logger
  signal: AbortSignal
}

export interface RelayRun {
  /** As this process sees them, one for each place; empty while another one leads. */
  states(): readonly RelayerState[]
  /** The same of payouts; null too where there are none. */
  payouts(): PayerState | null
  /** Settles when the run has ended after its signal. */
  done: Promise<void>
}

/**
 * Runs a network's deliveries while this process leads them, until the signal. One leader a network means one writer a (chain,
 * signer), since each of those belongs to one network. New blocks that are indexed wake it, and so does the operator; the hub's
 * poll interval is the floor. Timers live here and nowhere below.
 */
export function runRelayer(options: RelayRunOptions): RelayRun {
  const { network, log, signal, databaseUrl, account, places } = options
  const notifies = places.map(() => createNotify())
  const payoutNotify = createNotify()
  let relayers: readonly Relayer[] = []
  let payer: PayerState | null = null
  const listening = listenTo({
    url: databaseUrl,
    signal,
    onNotify: (payload) => {
      if (payload !== '' && payload !== network) return
      for (const { notify } of notifies) notify()
      payoutNotify.notify()
    },
    onError: (err) => log.debug({ network, err }, 'listening to the database'),
  })
  const leading = whileLeading(
    {
      url: databaseUrl,
      network,
      role: 'relay',
      signal,
      onError: (err) => log.error({ network, err }, 'deliveries stopped; trying to lead again'),
    },
    async (epoch, stopped) => {
      const labels = places.map(({ at }) => at.chain.label)
      log.info({ network, chains: labels, delivers: account !== null, epoch }, 'leading the deliveries')
      const alarms = createAlarms(log, network, options.clock?.nowMs ?? Date.now)
      const relayerAt = (place: Place): Relayer =>
        createRelayer({
          ...options,
          ...place,
          epoch,
          onStranded: alarms.stranded,
          onOutcome: (row, outcome) => {
            alarms.outcome(row, outcome)
            options.onOutcome?.(row, outcome)
          },
        })
      const working = places.map(relayerAt)
      relayers = working
      const onStart = (state: PayerState) => {
        payer = state
      }
      const payerOptions = { ...options, epoch, onStart }
      try {
        await together(stopped, [
          ...working.map(
            (relayer, i) => (signal: AbortSignal) =>
              loop(relayer, alarms, { ...options, pollMs: places[i]!.at.chain.config.pollMs }, notifies[i]!, signal),
          ),
          async (signal) => options.payouts && runPayer(payerOptions, options.payouts, payoutNotify, signal),
        ])
      } finally {
        relayers = []
        payer = null
      }
    },
  )
  return {
    states: () => relayers.map(({ state }) => state),
    payouts: () => payer,
    done: Promise.all([leading, listening]).then(() => {}),
  }
}

/** Runs loops until the signal; when one of them fails, the others are ended too. @throws the first failure, once all have ended */
async function together(
  stopped: AbortSignal,
  loops: readonly ((signal: AbortSignal) => Promise<unknown>)[],
): Promise<void> {
  const failed = new AbortController()
  const signal = AbortSignal.any([stopped, failed.signal])
  const errors: unknown[] = []
  await Promise.all(
    loops.map((run) =>
      run(signal).catch((error: unknown) => {
        errors.push(error)
        failed.abort()
      }),
    ),
  )
  if (errors.length > 0) throw errors[0]
}

async function loop(
  relayer: Relayer,
  alarms: Alarms,
  { network, log, pollMs }: Pick<RelayRunOptions, 'network' | 'log'> & { pollMs: number },
  notify: Notify,
  signal: AbortSignal,
): Promise<void> {
  const { chain } = relayer.state
  let failures = 0
  let busySteps = 0
  while (!signal.aborted) {
    try {
      const { kind } = await relayer.step()
      failures = 0
      alarms.heldByOthers(relayer.state.stats?.heldByOthers ?? 0)
      busySteps = kind === 'progressed' ? busySteps + 1 : 0
      if (busySteps > 0 && busySteps <= MAX_BUSY_STEPS) continue
      busySteps = 0
      await notify.wait(pollMs, signal)
    } catch (error) {
      if (error instanceof LostLeadershipError || signal.aborted) throw error
      if (failures === 0)
        log.warn({ network, chain, err: error }, 'a step of the deliveries failed; it will be tried again')
      else log.debug({ network, chain, err: error, failures }, 'a step of the deliveries failed again')
      await pauseAfterError(failures, signal)
      failures += 1
    }
  }
}
