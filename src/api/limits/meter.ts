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

/** Number of buckets to keep. A bucket that drops out counts as full again. */
const MAX_BUCKETS = 100_000

/** Buckets of a process by their names: the time (ms of the process's clock) at which each is full again. */
type LocalBuckets = ReturnType<typeof createLocalBuckets>

export const createLocalBuckets = () =>
  new LRUCache<string, number>({ maxSize: MAX_BUCKETS, sizeCalculation: () => 1 })

/** Counts what a client's requests cost, in its buckets. Without quotas nothing is limited. */
export class RequestMeter {
  readonly #buckets: LocalBuckets
  readonly quotas: readonly BucketQuota[]
  /** True if the operator gave the client limits of its own. */
  readonly isRaised: boolean

  constructor(buckets: LocalBuckets, quotas: readonly BucketQuota[], isRaised = false) {
    this.#buckets = buckets
    this.quotas = quotas
    this.isRaised = isRaised
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

  /** Charges units whatever the buckets hold, which may go into debt. Gives negative units back. */
  owe(units: number): void {
    if (units === 0) return
    const nowMs = performance.now()
    for (const { bucket, rate } of this.quotas) {
      const fullMs = Math.max(this.#buckets.get(bucket) ?? 0, nowMs)
      this.#buckets.set(bucket, fullMs + refillMs(units, rate))
    }
  }

  /** Headers with the state of the buckets: names and values in alternation. */
  fields(): readonly string[] {
    if (this.quotas.length === 0) return []
    const nowMs = performance.now()
    const states = this.quotas.map(({ kind, bucket, rate }) => {
      const fullMs = this.#buckets.peek(bucket) ?? 0
      return stateHeader(kind, availableUnits(rate, fullMs, nowMs), fullMs - nowMs)
    })
    const policies = this.quotas.map(policyHeader)
    return ['ratelimit-policy', policies.join(', '), 'ratelimit', states.join(', ')]
  }
}

/** Meter where nothing is limited. */
export const UNLIMITED_METER = new RequestMeter(createLocalBuckets(), [])

const seconds = (ms: number): number => Math.ceil(ms / 1_000)

/** `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-10: `q` units per `w` seconds. */
const policyHeader = ({ kind, rate }: Pick<BucketQuota, 'kind' | 'rate'>): string =>
  `"${kind}";q=${rate.burst};w=${Math.max(1, seconds(refillMs(rate.burst, rate)))}`

/** `RateLimit` of the same draft: `r` units are left, and the bucket is full in `t` seconds. */
const stateHeader = (kind: string, left: number, fullInMs: number): string =>
  `"${kind}";r=${left};t=${Math.max(0, seconds(fullInMs))}`

/** The error of a limit that is reached. @param rate of a bucket in the database, which the meter's headers leave out */
export function rateLimitedError(kind: string, waitMs: number, rate?: BucketRate): ApiError {
  const retryAfter = String(Math.max(1, seconds(waitMs)))
  const headers: Answer['headers'] = {
    'retry-after': retryAfter,
    ...(rate && {
      'ratelimit-policy': policyHeader({ kind, rate }),
      ratelimit: stateHeader(kind, 0, waitMs),
    }),
  }
  const message = `The limit "${kind}" is reached: ask again in ${retryAfter} s.`
  return new ApiError('rate_limited', message, {}, { headers, limit: kind })
}
