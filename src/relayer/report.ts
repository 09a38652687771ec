import type { JobRow } from '../db/outbox/rows.js'
import type { OpenJobs } from '../db/outbox/stats.js'
import { alarmFields, type Problem } from '../ops/alarms.js'
import type { Logger } from '../ops/log/log.js'
import type { OutboxMetrics } from '../ops/outboxMetrics.js'
import { JOB_KIND, JOB_STATE, type JobKind } from '../registry/outbox.js'
import { toHex } from '../registry/primitives/bytes.js'
import type { Network } from '../registry/primitives/network.js'
import type { EvmRelayerState } from './evmRelayer.js'
import type { SolanaRelayerState } from './solanaRelayer.js'
import type { Outcome } from './step.js'

/** State of a network's outbox in the process that leads it. */
export interface OutboxState {
  network: Network
  relayers: readonly EvmRelayerState[]
  payer: SolanaRelayerState | null
}

/** Sets the gauges of a network's outbox. */
export function showOutbox(metrics: OutboxMetrics, { network, relayers, payer }: OutboxState, nowMs: number): void {
  for (const state of relayers) showRelayer(metrics, state)
  if (payer && payer.balance !== null) metrics.authorityBalance.set({ network }, Number(payer.balance))
  const counted = [...relayers, payer].flatMap((state) => (state?.stats ? [state.stats.open] : []))
  if (counted.length > 0) showJobs(metrics, network, counted.flat(), nowMs)
}

function showRelayer(metrics: OutboxMetrics, state: EvmRelayerState): void {
  const { network, chain, stats, stuck, nonceGaps, nonceClaimed, balance, runwayMs } = state
  if (stuck !== null) metrics.stuck.set({ network }, stuck.length)
  metrics.nonceGaps.set({ network, chain }, nonceGaps)
  metrics.nonceClaims.set({ network, chain }, nonceClaimed === null ? 0 : 1)
  if (balance === null) return
  if (stats) metrics.signedToday.set({ network, chain }, Number(stats.signedTodayWei))
  metrics.balance.set({ network, chain }, Number(balance))
  metrics.runway.set({ network, chain }, runwayMs === null ? Number.POSITIVE_INFINITY : runwayMs / 1_000)
}

const KINDS = Object.keys(JOB_KIND)
const STATES = Object.keys(JOB_STATE).filter((state) => state !== 'confirmed')

function showJobs(metrics: OutboxMetrics, network: Network, open: readonly OpenJobs[], nowMs: number): void {
  for (const kind of KINDS)
    for (const state of STATES) {
      const same = open.filter((jobs) => jobs.kind === kind && jobs.state === state)
      const oldestMs = Math.min(nowMs, ...same.map((jobs) => jobs.oldestMs))
      const count = same.reduce((sum, jobs) => sum + jobs.count, 0)
      metrics.jobs.set({ network, kind, state }, count)
      metrics.oldest.set({ network, kind, state }, (nowMs - oldestMs) / 1_000)
    }
}

/** Below this the relay authority's balance is low: fees of 2,000 transactions. */
export const LOW_BALANCE_LAMPORTS = 10_000_000n
export const DAY_MS = 86_400_000
/** A balance that lasts for less is low. */
export const LOW_RUNWAY_MS = 3 * DAY_MS
/** Age from which a job that waits is an alarm. */
export const OLD_JOB_MS = 3_600_000

/** Facts of a network's outbox that an operator has to know; the same that the alarms' rules find. */
export function outboxProblems({ network, relayers, payer }: OutboxState, nowMs: number): Problem[] {
  const problems: Problem[] = []
  const found = (holds: boolean, alarm: Problem['alarm'], text: string) => {
    if (holds) problems.push({ alarm, text: `${network}: ${text}` })
  }
  for (const { chain, stuck, nonceGaps, nonceClaimed, runwayMs, signer } of relayers) {
    const on = `on chain "${chain}"`
    const [oldest] = stuck ?? []
    found(oldest !== undefined, 'ClusterdPacketsStuck', `packets not at the hub: ${stuck?.length}, first ${oldest}`)
    found(nonceGaps > 0, 'ClusterdNonceGap', `nonces of ${signer} that are missing ${on}: ${nonceGaps}`)
    found(nonceClaimed !== null, 'ClusterdNonceClaimed', `the chain counts ${nonceClaimed} uses of ${signer} ${on}`)
    found(runwayMs !== null && runwayMs < LOW_RUNWAY_MS, 'ClusterdRelayerRunsDry', `${signer} runs dry ${on}`)
  }
  for (const state of [...relayers, payer])
    for (const jobs of state?.stats?.open ?? []) problems.push(...jobProblems(jobs, network, nowMs))
  if (!payer) return problems
  const lamports = payer.balance
  const isLow = lamports !== null && lamports < LOW_BALANCE_LAMPORTS
  found(isLow, 'ClusterdRelayAuthorityRunsDry', `${lamports} lamports are left`)
  return problems
}

function jobProblems({ kind, state, count, oldestMs }: OpenJobs, network: string, nowMs: number): Problem[] {
  const is = (alarm: Problem['alarm'], text: string): Problem[] => [{ alarm, text: `${network}: ${text}` }]
  if (state === 'parked') return is('ClusterdJobsParked', `parked jobs of the kind ${kind}: ${count}`)
  if (nowMs - oldestMs <= OLD_JOB_MS) return []
  const minutes = Math.floor((nowMs - oldestMs) / 60_000)
  return is('ClusterdJobsWait', `a job of the kind ${kind} has been ${state} for ${minutes} min`)
}

const DONE: Record<JobKind, string> = {
  verify: 'verified',
  execute: 'delivered',
  noop: 'used a nonce up',
  deliver: 'delivered',
  refuse: 'refunded a payment for a community name',
  settle: 'settled on Solana',
  refund: 'refunded on Solana',
  release: 'released a payment for a community name',
}

/** Logs an outcome of a job. */
export function logOutcome(log: Logger, job: JobRow, outcome: Outcome, nowMs: number): void {
  const { network, id, kind, nonce, subject, payment, message, txs, failures, reason } = job
  const fields = {
    ...{ network, job: id, kind, nonce, subject: subject && toHex(subject) },
    ...(payment && { token: payment.money.token, amount: String(payment.money.amount) }),
    ...{ tx: txs.at(-1)?.hash, failures, reason },
  }
  if (outcome === 'confirmed') {
    const sinceMs = message?.sentMs ?? payment?.paidMs ?? job.createdMs
    log.info({ ...fields, ms: nowMs - sinceMs }, DONE[kind])
  } else if (outcome === 'parked') {
    if (reason === 'settled_elsewhere' || reason === 'refunded_elsewhere')
      log.error(fields, 'a job is parked: somebody else decided about its money')
    else log.warn(fields, 'a job is parked: see `clusterd outbox show`')
  } else if (outcome === 'failed' || outcome === 'refused') {
    if (failures <= 1) log.warn(fields, 'a job failed; it will be tried again')
    else log.debug(fields, 'a job failed again')
  } else if (outcome === 'waiting') log.trace(fields, outcome)
  else log.debug(fields, outcome === 'unreachable' ? 'the chain could not be asked' : outcome)
}

/** Creates a log of a network's alarms, which writes each when it begins. */
export function createAlarmLog(log: Logger, network: Network): (problems: readonly Problem[]) => void {
  let known: ReadonlySet<Problem['alarm']> = new Set()
  return (problems) => {
    const alarms = new Set(problems.map(({ alarm }) => alarm))
    for (const alarm of alarms) {
      if (known.has(alarm)) continue
      const texts = problems.filter((problem) => problem.alarm === alarm).map(({ text }) => text)
      log.error({ network, ...alarmFields(alarm) }, texts.join('; '))
    }
    known = alarms
  }
}
