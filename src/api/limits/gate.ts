import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { findApiKeyRate } from '../../db/auth/apiKeys.js'
import { withTimeout } from '../../ops/notify.js'
import { type BucketQuota, type BucketRate, ratePerDay } from '../../ops/tokenBucket.js'
import { apiKeyHash } from '../../registry/auth/apiKey.js'
import type { ClientOfRequest } from '../serving/exchange.js'
import type { ChangeLimits } from './changes.js'
import { rateLimitAddress } from './client.js'
import { LocalBuckets } from './meter.js'
import { spendSharedUnits } from './shared.js'

export interface LimitSettings extends ChangeLimits {
  /** Rate of an address without an API key. */
  address: BucketRate
  /** Rate of an API key, and of all keys together at one address. */
  key: BucketRate
  /** Maximum number of API keys that an address may create in a day. */
  keysPerDay: number
}

/** Limits that are counted in the database, for all processes together. */
export type SharedLimit = 'sign-ins' | 'keys-a-day'

/** Counts what one request costs its client. */
export interface RequestMeter {
  /** True if the operator gave the client limits of its own. */
  readonly isRaised: boolean
  /** @throws ApiError rate_limited */
  spend(units: number): void
  giveBack(units: number): void
  /** Counts units in the database, for all processes. @throws ApiError rate_limited */
  spendTogether(limit: SharedLimit, units: number): Promise<void>
  /** Rate-limit headers: names and values in alternation. */
  fields(): readonly string[]
}

/** Meter where nothing is limited. */
export const UNLIMITED_METER: RequestMeter = {
  isRaised: true,
  spend() {},
  giveBack() {},
  async spendTogether() {},
  fields: () => [],
}

/** A meter for requests that may cost more than a bucket holds: the rest becomes a debt. */
export const meterThatMayOverspend = (meter: RequestMeter): RequestMeter => ({
  ...meter,
  spend: (units) => meter.giveBack(-units),
})

export type RateLimitGate = ReturnType<typeof createRateLimitGate>

/** Cache of API keys: how many, and how long each look-up is valid. */
const MAX_KEYS = 10_000
const KEY_REMEMBERED_MS = 30_000
/** Time limit for the look-up of an API key, ms. After it the request continues with the previous result. */
const KEY_LIMIT_MS = 300

type KnownKey = Awaited<ReturnType<typeof findApiKeyRate>>

/** Creates the gate, which returns a meter for each request's client. @param settings null where nothing is limited */
export function createRateLimitGate(settings: LimitSettings | null, pool: pg.Pool) {
  if (!settings) {
    const unlimited = () => UNLIMITED_METER
    return { ofAddress: unlimited, ofPreflights: unlimited, ofClient: unlimited }
  }
  const { address: rate } = settings
  const buckets = new LocalBuckets()
  const keys = new LRUCache<string, KnownKey, Buffer>({
    max: MAX_KEYS,
    ttl: KEY_REMEMBERED_MS,
    allowStaleOnFetchRejection: true,
    noDeleteOnStaleGet: true,
    fetchMethod: (_id, _stale, { context: hash }) => findApiKeyRate(pool, hash),
  })
  const meterOf = (
    address: string,
    quotas: readonly BucketQuota[],
    isRaised = false,
  ): RequestMeter => ({
    isRaised,
    spend: (units) => buckets.withdraw(quotas, units),
    giveBack: (units) => buckets.giveBack(quotas, units),
    spendTogether: (kind, units) => {
      const bucketed = quotas.map((quota) => ({
        ...quota,
        kind,
        bucket: `${kind} ${quota.bucket}`,
        units,
      }))
      const ofKeys = ratePerDay(settings.keysPerDay)
      const key = { kind, bucket: `${kind} ${address}`, rate: ofKeys, units: 1 }
      return spendSharedUnits(pool, kind === 'keys-a-day' ? [key] : bucketed)
    },
    fields: () => buckets.fields(quotas),
  })
  /** Meter of a request's address, regardless of its API key. */
  const ofAddress = ({ ip }: ClientOfRequest, counted = ''): RequestMeter => {
    const address = rateLimitAddress(ip)
    return meterOf(address, [{ kind: 'address', bucket: `${counted}${address}`, rate }])
  }
  /** Limits how often an address's API keys are looked up in the database, to the rate of the address's requests. */
  const mayLookUp = (address: string): boolean => {
    try {
      buckets.withdraw([{ kind: 'address', bucket: `keys looked up for ${address}`, rate }], 1)
      return true
    } catch {
      return false
    }
  }
  const meterOfKey = (
    id: string,
    client: ClientOfRequest,
    found: KnownKey | undefined,
  ): RequestMeter => {
    if (!found?.isKnown) return ofAddress(client)
    const address = rateLimitAddress(client.ip)
    const own = { kind: 'key', bucket: `key ${id}`, rate: found.rate ?? settings.key }
    // an address may make many keys, so all keys of an address share a second limit
    const ofAll = { kind: 'keys-of-address', bucket: `keys of ${address}`, rate: settings.key }
    return found.rate ? meterOf(address, [own], true) : meterOf(address, [own, ofAll])
  }
  /**
   * Meter of an API key. Returned at once unless the database has to be queried. Without a result in time, the previous
   * result counts; a key without a previous result counts as unknown.
   */
  const ofKey = (hash: Buffer, client: ClientOfRequest): RequestMeter | Promise<RequestMeter> => {
    const id = hash.toString('base64')
    const known = keys.get(id)
    if (known) return meterOfKey(id, client, known)
    const former = () => meterOfKey(id, client, keys.peek(id, { allowStale: true }))
    if (!mayLookUp(rateLimitAddress(client.ip))) return former()
    const asked = keys.fetch(id, { context: hash }).catch(() => undefined)
    return withTimeout(KEY_LIMIT_MS, asked, undefined).then((found) =>
      found ? meterOfKey(id, client, found) : former(),
    )
  }
  return {
    ofAddress,
    /** Meter of preflights, which have a bucket of their own per address. */
    ofPreflights: (client: ClientOfRequest) => ofAddress(client, 'preflights of '),
    /** Meter of a request's API key; of its address where the key is missing or unknown. */
    ofClient(client: ClientOfRequest): RequestMeter | Promise<RequestMeter> {
      const hash = apiKeyHash(String(client.req.headers['x-api-key'] ?? ''))
      return hash ? ofKey(hash, client) : ofAddress(client)
    },
  }
}
