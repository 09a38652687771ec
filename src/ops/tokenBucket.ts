/** Rate of a token bucket: units that flow in per second, and its capacity. */
export interface BucketRate {
  perSecond: number
  burst: number
}

/** A client's allowance under one rate limit. The bucket's content is stored elsewhere. */
export interface BucketQuota {
  /** Name of the limit in headers and metrics. */
  kind: string
  /** Name of the client's bucket, which contains the address, the key's id or another identity. */
  bucket: string
  rate: BucketRate
}

export const ratePerMinute = (burst: number): BucketRate => ({ perSecond: burst / 60, burst })
export const ratePerDay = (burst: number): BucketRate => ({ perSecond: burst / 86_400, burst })

interface BucketWithdrawal {
  /** Time at which the bucket is full again, ms. It is the bucket's whole state. */
  fullMs: number
  /** 0 if the units were withdrawn, otherwise the time until a withdrawal can succeed, ms. */
  waitMs: number
}

/** Allowed rounding error of a sum of times, ms. */
const EPSILON_MS = 1e-6

/** Time in which a number of units flows into a bucket, ms. */
export const refillMs = (units: number, { perSecond }: BucketRate): number =>
  (units * 1_000) / perSecond

/**
 * Withdraws units from a bucket (GCRA: the bucket's state is the time at which it is full). A full bucket allows any
 * withdrawal and goes into debt, because a request that costs more than the burst could never succeed otherwise.
 */
export function withdrawUnits(
  rate: BucketRate,
  fullMs: number,
  nowMs: number,
  units: number,
): BucketWithdrawal {
  if (units === 0) return { fullMs, waitMs: 0 }
  const fromMs = Math.max(fullMs, nowMs)
  const nextMs = fromMs + refillMs(units, rate)
  const waitMs = Math.min(nextMs - nowMs - refillMs(rate.burst, rate), fromMs - nowMs)
  return waitMs <= EPSILON_MS ? { fullMs: nextMs, waitMs: 0 } : { fullMs: fromMs, waitMs }
}

/** Whole units in a bucket. */
export const availableUnits = (rate: BucketRate, fullMs: number, nowMs: number): number =>
  Math.max(
    0,
    Math.floor(rate.burst - (Math.max(0, fullMs - nowMs) * rate.perSecond) / 1_000 + EPSILON_MS),
  )
