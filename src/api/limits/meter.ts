import { LRUCache } from 'lru-cache'
import { availableUnits, type BucketQuota, refillMs, withdrawUnits } from '../../ops/tokenBucket.js'
import type { Answer } from '../http/answer.js'
import { ApiError } from '../http/errors.js'

/** Number of buckets to keep; `max` preallocates them all. A bucket that drops out counts as full again. */
const MAX_BUCKETS = 100_000

/** Buckets of this process by their names: the time (ms) at which each is full again. */
export class LocalBuckets {
  readonly #fullMs: LRUCache<string, number>
  readonly #now: () => number

  constructor(now: () => number = () => performance.now(), max = MAX_BUCKETS) {
    this.#fullMs = new LRUCache({ maxSize: max, sizeCalculation: () => 1 })
    this.#now = now
  }

  get size(): number {
    return this.#fullMs.size
  }

  /** Withdraws units from all buckets of the quotas, or from none. @throws ApiError rate_limited */
  withdraw(quotas: readonly BucketQuota[], units: number): void {
    if (units === 0) return
    const nowMs = this.#now()
    const made: number[] = []
    for (const { kind, bucket, rate } of quotas) {
      const { fullMs, waitMs } = withdrawUnits(rate, this.#fullMs.get(bucket) ?? 0, nowMs, units)
      if (waitMs > 0) throw rateLimitedError(kind, waitMs)
      made.push(fullMs)
    }
    for (let i = 0; i < made.length; i++) this.#fullMs.set(quotas[i]!.bucket, made[i]!)
  }

  /** Gives back units that were withdrawn. */
  giveBack(quotas: readonly BucketQuota[], units: number): void {
    if (units === 0) return
    for (const { bucket, rate } of quotas) {
      const fullMs = this.#fullMs.get(bucket)
      if (fullMs !== undefined)
        this.#fullMs.set(bucket, Math.max(fullMs, this.#now()) - refillMs(units, rate))
    }
  }

  /** Headers with the state of the quotas: names and values in alternation. */
  fields(quotas: readonly BucketQuota[]): string[] {
    const nowMs = this.#now()
    const states = quotas.map((quota) => {
      const fullMs = this.#fullMs.get(quota.bucket) ?? 0
      return stateOf(quota, availableUnits(quota.rate, fullMs, nowMs), Math.max(0, fullMs - nowMs))
    })
    return ['ratelimit-policy', quotas.map(policyOf).join(', '), 'ratelimit', states.join(', ')]
  }
}

const seconds = (ms: number): number => Math.ceil(ms / 1_000)

const policyOf = ({ kind, rate }: Omit<BucketQuota, 'bucket'>): string =>
  `"${kind}";q=${rate.burst};w=${Math.max(1, seconds(refillMs(rate.burst, rate)))}`

const stateOf = ({ kind }: Pick<BucketQuota, 'kind'>, held: number, fullInMs: number): string =>
  `"${kind}";r=${held};t=${seconds(fullInMs)}`

/**
 * Headers of draft-ietf-httpapi-ratelimit-headers-10: `q` units per `w` seconds; `r` units are left, and the bucket
 * is full in `t` seconds.
 */
export const rateLimitHeaders = (
  quota: Omit<BucketQuota, 'bucket'>,
  held: number,
  fullInMs: number,
) => ({
  'ratelimit-policy': policyOf(quota),
  ratelimit: stateOf(quota, held, fullInMs),
})

/** The error of a limit that is reached. @param fields headers of a limit that is not counted in this process */
export function rateLimitedError(
  kind: string,
  waitMs: number,
  fields: Answer['headers'] = {},
): ApiError {
  const retryAfter = String(Math.max(1, seconds(waitMs)))
  const message = `The limit "${kind}" is reached: ask again in ${retryAfter} s.`
  return new ApiError(
    'rate_limited',
    message,
    {},
    { headers: { ...fields, 'retry-after': retryAfter }, limit: kind },
  )
}
