import type { PayoutCluster } from '../../chains/solana/payouts.js'
import { LostLeadershipError } from '../../db/journal/head.js'
import type { Logger } from '../../ops/log.js'
import type { Notify } from '../../ops/notify.js'
import { pauseAfterError } from '../../ops/worker.js'
import { createPayoutAlarms } from './alarms.js'
import { createPayer, type Payer, type PayerOptions, type PayerState } from './payer.js'

/** A network's Solana cluster, as far as payouts go. */
export interface PayoutSource {
  /** Null without the relay authority's key. */
  cluster: PayoutCluster | null
  autoRefunds: boolean
  pollMs: number
  /** The program's number in the database; asks the cluster when it was never reached before. @throws ChainUnavailableError */
  open(): Promise<{ chain: number }>
}

export interface PayerRunOptions extends Pick<PayerOptions, 'pool' | 'network' | 'epoch' | 'clock'> {
  log: Logger
  onPayout?: NonNullable<PayerOptions['onOutcome']>
  /** Told of the state as soon as there is one. */
  onStart: (state: PayerState) => void
}

/**
 * Pays out until the signal, while this process leads the network's deliveries. A cluster that is away delays nothing else: it
 * is tried again and again, here alone.
 * @throws LostLeadershipError
 */
export async function runPayer(
  options: PayerRunOptions,
  source: PayoutSource,
  notify: Notify,
  signal: AbortSignal,
): Promise<void> {
  const { network, log } = options
  const alarms = createPayoutAlarms(log, network)
  let payer: Payer | null = null
  let failures = 0
  while (!signal.aborted) {
    try {
      payer ??= await open(options, source, alarms.outcome)
      const kind = await payer.step()
      failures = 0
      alarms.state(payer.state, source.autoRefunds)
      if (kind !== 'progressed') await notify.wait(source.pollMs, signal)
    } catch (error) {
      if (error instanceof LostLeadershipError || signal.aborted) throw error
      if (failures === 0) log.warn({ network, err: error }, 'a step of the payouts failed; it will be tried again')
      else log.debug({ network, err: error, failures }, 'a step of the payouts failed again')
      await pauseAfterError(failures, signal)
      failures += 1
    }
  }
}

async function open(
  options: PayerRunOptions,
  { cluster, autoRefunds, open: openChain }: PayoutSource,
  alarm: NonNullable<PayerOptions['onOutcome']>,
): Promise<Payer> {
  const { pool, network, epoch, clock, log } = options
  const { chain } = await openChain()
  if (cluster) log.info({ network, authority: cluster.authority.toBase58(), autoRefunds }, 'paying out on Solana')
  else log.info({ network }, 'SOLANA_RELAYER_PRIVATE_KEY is not set: payments are neither settled nor given back')
  const payer = createPayer({
    ...{ pool, network, epoch, ...(clock ? { clock } : {}) },
    chain,
    cluster,
    autoRefunds,
    onOutcome: (row, outcome) => {
      alarm(row, outcome)
      options.onPayout?.(row, outcome)
    },
  })
  options.onStart(payer.state)
  return payer
}
