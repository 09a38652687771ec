import type { REMEDIES } from './generated/remedies.js'

/** Time without a turn from which a loop counts as stuck. */
export const LOOP_LIMIT_MS = 120_000
/** Ethereum finalizes in 13 to 20 minutes, and its rollups follow it. */
export const FINALITY_ALARM_MS = 60 * 60_000
/** Age from which a job that waits is an alarm. */
export const OLD_JOB_MS = 3_600_000
/** Time for which an error of our own code is an alarm. */
export const OWN_ERROR_ALARM_MS = 3_600_000
export const DAY_MS = 86_400_000
/**
 * Share of the time until its payer may take it back after which a payment that has to be settled or released is
 * short of time: an alarm, and its job goes before others.
 */
export const SHORT_OF_TIME = 0.8
/** A balance that lasts for less is low. */
export const LOW_RUNWAY_MS = 3 * DAY_MS
/** Below this the relay authority's balance is low: fees of 2,000 transactions. */
export const LOW_BALANCE_LAMPORTS = 10_000_000n

/** Name of an alarm: examples/prometheus/alerts.yml says when it fires, what it means and what to do. */
export type AlarmName = keyof typeof REMEDIES

/** Something that is wrong, and the alarm that has its remedy. */
export interface Problem {
  alarm: AlarmName
  /** A sentence. */
  text: string
}

/** Fields of a log line that leads from a text to its remedy. */
export const alarmFields = (alarm: AlarmName) => ({
  alarm,
  see: `docs/run/alarms.md#${alarm.toLowerCase()}`,
})
