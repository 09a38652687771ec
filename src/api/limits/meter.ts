import { LRUCache } from 'lru-cache'
import {
  availableUnits,
  type BucketQuota,
  type BucketRate,
  refillMs,
  withdrawUnits,
} from '../../ops/tokenBucket.js'
import type { Answer } from '../http/answer.js'
import { ApiError } from '../http/errors.js'

/** Maximum number of cached buckets. A bucket that is evicted counts as full. */
const MAX_BUCKETS = 100_000

/**
 * Buckets of a process by their names. Each value is the time at which the bucket is full again, ms of the process's
 * clock.
 */
type LocalBuckets = ReturnType<typeof createLocalBuckets>

export const createLocalBuckets = () =>
  new LRUCache<string, number>({ maxSize: MAX_BUCKETS, sizeCalculation: () => 1 })

/** Charges the cost of a client's requests to the client's buckets. Without quotas nothing is limited. */
export class RequestMeter {
  readonly #buckets: LocalBuckets

  /** @param isRaised true if the operator gave the client separate limits */
  constructor(
    buckets: LocalBuckets,
    readonly quotas: readonly BucketQuota[],
    readonly isRaised = false,
  ) {
    this.#buckets = buckets
  }

  /** Withdraws units from all buckets, or from none. @throws ApiError rate_limited */
  spend(units: number): void {
    if (units === 0) return
    const nowMs = performance.now()
    const fullMs: number[] = []
    for (const { kind, bucket, rate } of this.quotas) {
      const withdrawn = withdrawUnits(rate, this.#buckets.get(bucket) ?? 0, nowMs, units)
      if (withdrawn.waitMs > 0) throw rateLimitedError(kind, withdrawn.waitMs)
      fullMs.push(withdrawn.fullMs)
    }
    for (let i = 0; i < fullMs.length; i++) this.#buckets.set(this.quotas[i]!.bucket, fullMs[i]!)
  }

  /** Charges units even if the buckets do not hold them: a bucket may go into debt. Negative units are given back. */
  owe(units: number): void {
    if (units === 0) return
    const nowMs = performance.now()
    for (const { bucket, rate } of this.quotas) {
      const fullMs = Math.max(this.#buckets.get(bucket) ?? 0, nowMs)
      this.#buckets.set(bucket, fullMs + refillMs(units, rate))
    }
  }

  /** Headers with the state of the buckets: names and values in alternation. */
  rateLimitHeaders(): readonly string[] {
    if (this.quotas.length === 0) return []
    const nowMs = performance.now()
    const states = this.quotas.map(({ kind, bucket, rate }) => {
      const fullMs = this.#buckets.peek(bucket) ?? 0
      return stateHeaderValue(kind, availableUnits(rate, fullMs, nowMs), fullMs - nowMs)
    })
    const policies = this.quotas.map(policyHeaderValue)
    return ['ratelimit-policy', policies.join(', '), 'ratelimit', states.join(', ')]
  }
}

/** Meter where nothing is limited. */
export const UNLIMITED_METER = new RequestMeter(createLocalBuckets(), [])

const ceilToSeconds = (ms: number): number => Math.ceil(ms / 1_000)

/** Value of the header `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10): `q` units per `w` seconds. */
const policyHeaderValue = ({ kind, rate }: Pick<BucketQuota, 'kind' | 'rate'>): string =>
  `"${kind}";q=${rate.burst};w=${Math.max(1, ceilToSeconds(refillMs(rate.burst, rate)))}`

/** Value of the header `RateLimit` (same draft): `r` units are left, and the bucket is full in `t` seconds. */
const stateHeaderValue = (kind: string, left: number, fullInMs: number): string =>
  `"${kind}";r=${left};t=${Math.max(0, ceilToSeconds(fullInMs))}`

/**
 * The error of a limit that is reached.
 * @param rate of a bucket in the database, whose state the headers then show; undefined for a local bucket, whose state
 * `rateLimitHeaders` shows
 */
export function rateLimitedError(kind: string, waitMs: number, rate?: BucketRate): ApiError {
  const retryAfter = String(Math.max(1, ceilToSeconds(waitMs)))
  const headers: Answer['headers'] = {
    'retry-after': retryAfter,
    ...(rate && {
      'ratelimit-policy': policyHeaderValue({ kind, rate }),
      ratelimit: stateHeaderValue(kind, 0, waitMs),
    }),
  }
  const message = `The limit "${kind}" is reached: ask again in ${retryAfter} s.`
  return new ApiError('rate_limited', message, {}, { headers, limit: kind })
}
