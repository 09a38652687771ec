import type { REMEDIES } from './generated/remedies.js'

/** Time without an ended step or a sign of life after which a worker's loop counts as stuck, ms. */
export const STUCK_LOOP_ALARM_MS = 120_000
/** Number of failed steps of a loop in a row above which the loop raises an alarm. */
export const LOOP_FAILURES_ALARM = 20
/**
 * Age of the newest finalized block that raises an alarm, ms. Ethereum finalizes in 13 to 20 minutes, and its rollups
 * follow it.
 */
export const FINALITY_ALARM_MS = 60 * 60_000
/** Age from which a waiting job of the outbox raises an alarm, ms. */
export const OLD_JOB_ALARM_MS = 3_600_000
/** Time for which a webhook fails before it raises an alarm, ms. */
export const FAILING_WEBHOOK_ALARM_MS = 3_600_000
/** How long the alarm of an error of our own code lasts after the newest such error, ms. */
export const INTERNAL_ERROR_ALARM_MS = 3_600_000
export const DAY_MS = 86_400_000
/**
 * Fraction of the time for which a payment is held and can't be reclaimed. A payment that still has to be settled or
 * released after this fraction raises an alarm, and its job comes before other jobs.
 */
export const PAYMENT_TIME_USED_ALARM_SHARE = 0.8
/** The balance of a relayer's account is low if it lasts for less than this time. */
export const LOW_RUNWAY_MS = 3 * DAY_MS
/** The balance of the relay authority on Solana is low below this amount, which pays the fees of 2,000 transactions. */
export const LOW_BALANCE_LAMPORTS = 10_000_000n
/** Number of failed requests of a route in the last minute below which no alarm is raised. */
export const LEAST_FAILED_REQUESTS = 3
/** Share of failed requests among a route's requests in the last minute, above which an alarm is raised. */
export const FAILED_REQUESTS_ALARM_SHARE = 0.5

/** Name of an alarm. examples/prometheus/alerts.yml has its condition, meaning and remedy. */
export type AlarmName = keyof typeof REMEDIES

/** A problem, with the alarm that names its remedy. */
export interface ProblemWithAlarm {
  alarm: AlarmName
  /** Description of the problem, one sentence. */
  text: string
  /**
   * Labels of the metric `clusterd_alarm`. `subject` distinguishes problems of one alarm: a host, a witness, a loop, or
   * a kind and state of jobs. The subject stays the same while the problem lasts.
   */
  network?: string | undefined
  chain?: string | undefined
  subject?: string
}

/** Fields of a log line that point to an alarm's remedy. */
export const alarmLogFields = (alarm: AlarmName) => ({
  alarm,
  see: `docs/run/alarms.md#${alarm.toLowerCase()}`,
})
