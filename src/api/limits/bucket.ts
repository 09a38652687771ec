/** Token bucket: units that flow in per second, and how many it holds. */
export interface Rate {
  perSecond: number
  burst: number
}

const per = (seconds: number, burst: number): Rate => ({ perSecond: burst / seconds, burst })
export const perMinute = (units: number): Rate => per(60, units)
export const perDay = (units: number): Rate => per(86_400, units)

/** Bucket after a withdrawal. */
export interface Withdrawal {
  /** Time at which the bucket is full again, ms: all that is kept of it. */
  fullMs: number
  /** 0 for a withdrawal that was made, else the time until it can be. */
  waitMs: number
}

/** Rounding error of sums of times. */
const EPSILON_MS = 1e-6

/** Time in which a number of units flows in. */
export const flowMs = (units: number, { perSecond }: Rate): number => (units * 1_000) / perSecond

/**
 * Withdraws units from a bucket (GCRA: the time until it is full stands for what it lacks). A full bucket gives any
 * number and owes what it doesn't hold: else what costs more than the burst could never be asked.
 */
export function withdraw(rate: Rate, fullMs: number, nowMs: number, units: number): Withdrawal {
  const fromMs = Math.max(fullMs, nowMs)
  const nextMs = fromMs + flowMs(units, rate)
  const overMs = nextMs - nowMs - flowMs(rate.burst, rate)
  if (overMs <= EPSILON_MS || fromMs - nowMs <= EPSILON_MS) return { fullMs: nextMs, waitMs: 0 }
  return { fullMs: fromMs, waitMs: Math.min(overMs, fromMs - nowMs) }
}

/** Whole units that a bucket holds. */
export const heldUnits = (rate: Rate, fullMs: number, nowMs: number): number =>
  Math.max(
    0,
    Math.floor(rate.burst - (Math.max(0, fullMs - nowMs) * rate.perSecond) / 1_000 + EPSILON_MS),
  )
