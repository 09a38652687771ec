import type { Job } from '../../registry/outbox.js'

/** Pauses between attempts by the number of failures so far; the last one stays. */
const PAUSES_MS = [5_000, 10_000, 30_000, 60_000, 180_000, 600_000, 1_800_000, 3_600_000] as const
/** Each pause varies by up to this fraction, so that jobs that failed together don't return together. */
const JITTER = 0.2
/** Longest pause of a refusal, for which a payer waits, and of what holds a nonce, for which all later ones wait. */
const AWAITED_PAUSE_MS = 60_000

/**
 * The pause before the next attempt, in milliseconds.
 * @param failures attempts that failed, at least 1
 * @param random in [0, 1)
 */
export function backoffMs({ kind, nonce }: Pick<Job, 'kind' | 'nonce'>, failures: number, random: number): number {
  const pause = PAUSES_MS[Math.min(Math.max(failures, 1), PAUSES_MS.length) - 1]!
  const jittered = Math.round(pause * (1 + JITTER * (2 * random - 1)))
  return kind === 'refuse' || nonce !== null ? Math.min(jittered, AWAITED_PAUSE_MS) : jittered
}
