import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { findApiKeyRate } from '../../db/auth/apiKeys.js'
import { withTimeout } from '../../ops/notify.js'
import { apiKeyHash } from '../../registry/auth/apiKey.js'
import type { Client } from '../serving/exchange.js'
import { perDay, type Rate } from './bucket.js'
import type { ChangeLimits } from './changes.js'
import { countedAddress } from './client.js'
import { Buckets, type Quota } from './meter.js'
import { spendSharedNow } from './shared.js'

export interface LimitSettings extends ChangeLimits {
  /** Requests of an address without an API key. */
  address: Rate
  /** Requests of an API key, and of all keys at one address. */
  key: Rate
  /** API keys that an address makes in a day. */
  keysPerDay: number
}

/** Limits of clients that are counted in the database. */
export type SharedLimit = 'sign-ins' | 'keys-a-day'

/** Counts what one request costs its client. */
export interface Meter {
  /** True if the operator gave the client limits of its own. */
  readonly isRaised: boolean
  /** @throws ApiError rate_limited */
  spend(units: number): void
  giveBack(units: number): void
  /** Counts units in the database, for all processes. @throws ApiError rate_limited */
  spendTogether(limit: SharedLimit, units: number): Promise<void>
  /** Headers that say how much the client has left: names and values in turn. */
  fields(): readonly string[]
}

/** Meter where nothing is limited. */
export const UNLIMITED: Meter = {
  isRaised: true,
  spend() {},
  giveBack() {},
  async spendTogether() {},
  fields: () => [],
}

/** Meter of what costs more than a bucket holds: it is owed. */
export const owing = (meter: Meter): Meter => ({
  ...meter,
  spend: (units) => meter.giveBack(-units),
})

export type Gate = ReturnType<typeof createGate>

/** Keys of which it is remembered whether they are known, and for how long. */
const MAX_KEYS = 10_000
const KEY_REMEMBERED_MS = 30_000
/** Time for the look-up of a key, after which a request goes on with what was known of it before. */
const KEY_LIMIT_MS = 300

type KnownKey = Awaited<ReturnType<typeof findApiKeyRate>>

/** @param settings null where nothing is limited */
export function createGate(settings: LimitSettings | null, pool: pg.Pool) {
  if (!settings) {
    const unlimited = () => UNLIMITED
    return { ofAddress: unlimited, ofPreflights: unlimited, ofClient: unlimited }
  }
  const { address: rate } = settings
  const buckets = new Buckets()
  const keys = new LRUCache<string, KnownKey, Buffer>({
    max: MAX_KEYS,
    ttl: KEY_REMEMBERED_MS,
    allowStaleOnFetchRejection: true,
    noDeleteOnStaleGet: true,
    fetchMethod: (_id, _stale, { context: hash }) => findApiKeyRate(pool, hash),
  })
  const meterOf = (address: string, quotas: readonly Quota[], isRaised = false): Meter => ({
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
      const ofKeys = perDay(settings.keysPerDay)
      const key = { kind, bucket: `${kind} ${address}`, rate: ofKeys, units: 1 }
      return spendSharedNow(pool, kind === 'keys-a-day' ? [key] : bucketed)
    },
    fields: () => buckets.fields(quotas),
  })
  /** Meter of a request's address, without a look at its API key. */
  const ofAddress = ({ ip }: Client, counted = ''): Meter => {
    const address = countedAddress(ip)
    return meterOf(address, [{ kind: 'address', bucket: `${counted}${address}`, rate }])
  }
  /** Keys are looked up at most as often as their address may ask. */
  const mayLookUp = (address: string): boolean => {
    try {
      buckets.withdraw([{ kind: 'address', bucket: `keys looked up for ${address}`, rate }], 1)
      return true
    } catch {
      return false
    }
  }
  const meterOfKey = (id: string, client: Client, found: KnownKey | undefined): Meter => {
    if (!found?.isKnown) return ofAddress(client)
    const address = countedAddress(client.ip)
    const own = { kind: 'key', bucket: `key ${id}`, rate: found.rate ?? settings.key }
    // anybody may make keys: without a limit of an address, many would be none
    const ofAll = { kind: 'keys-of-address', bucket: `keys of ${address}`, rate: settings.key }
    return found.rate ? meterOf(address, [own], true) : meterOf(address, [own, ofAll])
  }
  /** At once unless the database is asked. Without an answer in time a key is what it was, or none. */
  const ofKey = (hash: Buffer, client: Client): Meter | Promise<Meter> => {
    const id = hash.toString('base64')
    const known = keys.get(id)
    if (known) return meterOfKey(id, client, known)
    const former = () => meterOfKey(id, client, keys.peek(id, { allowStale: true }))
    if (!mayLookUp(countedAddress(client.ip))) return former()
    const asked = keys.fetch(id, { context: hash }).catch(() => undefined)
    return withTimeout(KEY_LIMIT_MS, asked, undefined).then((found) =>
      found ? meterOfKey(id, client, found) : former(),
    )
  }
  return {
    ofAddress,
    /** Meter of the preflights of a request's address, which are counted apart. */
    ofPreflights: (client: Client) => ofAddress(client, 'preflights of '),
    /** Meter of a request's API key, where it has one that is known. */
    ofClient(client: Client): Meter | Promise<Meter> {
      const hash = apiKeyHash(String(client.req.headers['x-api-key'] ?? ''))
      return hash ? ofKey(hash, client) : ofAddress(client)
    },
  }
}
