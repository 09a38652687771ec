/** Pauses between attempts, by how many failed so far; the last one stays. */
const PAUSES_MS = [5_000, 10_000, 30_000, 60_000, 180_000, 600_000, 1_800_000, 3_600_000] as const
/** Each pause is stretched or shortened by up to this part of it, so that deliveries that failed together don't return together. */
const JITTER = 0.2

/**
 * The pause before the next attempt, in milliseconds.
 * @param failures attempts that failed, at least 1
 * @param random in [0, 1)
 */
export function backoffMs(failures: number, random: number): number {
  const pause = PAUSES_MS[Math.min(Math.max(failures, 1), PAUSES_MS.length) - 1]!
  return Math.round(pause * (1 + JITTER * (2 * random - 1)))
}
