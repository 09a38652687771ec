import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { findApiKeyRate } from '../../db/auth/apiKeys.js'
import type { BucketRate } from '../../ops/tokenBucket.js'
import { withTimeout } from '../../ops/waiting.js'
import { apiKeyHash } from '../../registry/auth/apiKey.js'
import type { HttpExchange } from '../serving/exchange.js'
import type { ChangeLimits } from './changes.js'
import { createLocalBuckets, RequestMeter, UNLIMITED_METER } from './meter.js'

export interface LimitSettings extends ChangeLimits {
  /** Rate of an address without an API key. */
  address: BucketRate
  /** Rate of an API key to which the operator gave none. All such keys used from one address also share this rate. */
  key: BucketRate
  /** Maximum number of API keys that an address may create in a day. */
  keysPerDay: number
}

/** Maximum number of cached look-ups of API keys, and their lifetime. */
const MAX_CACHED_KEYS = 10_000
const KEY_CACHED_MS = 30_000
/** Time limit for the look-up of an API key, ms. Afterwards the request continues with the previous result. */
const KEY_LOOKUP_TIMEOUT_MS = 300

export type RateLimitGate = ReturnType<typeof createRateLimitGate>

/** Creates the gate, which returns a meter for each request's client. @param settings null where nothing is limited */
export function createRateLimitGate(settings: LimitSettings | null, pool: pg.Pool) {
  if (!settings) return { ofAddress: () => UNLIMITED_METER, ofClient: () => UNLIMITED_METER }
  const buckets = createLocalBuckets()
  const keys = new LRUCache<string, Awaited<ReturnType<typeof findApiKeyRate>>, Buffer>({
    maxSize: MAX_CACHED_KEYS,
    sizeCalculation: () => 1,
    ttl: KEY_CACHED_MS,
    allowStaleOnFetchRejection: true,
    noDeleteOnStaleGet: true,
    fetchMethod: (_id, _stale, { context: hash }) => findApiKeyRate(pool, hash),
  })

  /**
   * Meter of a request's address, whether or not the request has an API key. @param prefix of the bucket's name, for a
   * separate limit
   */
  const ofAddress = ({ address }: HttpExchange, prefix = ''): RequestMeter =>
    new RequestMeter(buckets, [
      { kind: 'address', bucket: prefix + address, rate: settings.address },
    ])

  /**
   * Finds an API key and its rate. The previous result (undefined without one) is returned if the look-up fails or
   * takes too long, or if the client's address has looked up too many keys.
   */
  const findKey = async (id: string, hash: Buffer, client: HttpExchange) => {
    const known = keys.get(id)
    if (known) return known
    const previous = keys.peek(id, { allowStale: true })
    try {
      // limits an address's look-ups of keys in the database to its rate of requests
      ofAddress(client, 'keys looked up for ').spend(1)
    } catch {
      return previous
    }
    const lookup = keys.fetch(id, { context: hash }).catch(() => previous)
    return withTimeout(KEY_LOOKUP_TIMEOUT_MS, lookup, previous)
  }

  return {
    ofAddress,
    /** Meter of a request's API key; of its address where the key is missing or unknown. */
    async ofClient(client: HttpExchange): Promise<RequestMeter> {
      const sent = client.req.headers['x-api-key']
      const hash = sent === undefined ? null : apiKeyHash(String(sent))
      if (!hash) return ofAddress(client)
      const id = hash.toString('base64')
      const key = await findKey(id, hash, client)
      if (!key?.isKnown) return ofAddress(client)
      const keyBucket = { kind: 'key', bucket: `key ${id}`, rate: key.rate ?? settings.key }
      if (key.rate) return new RequestMeter(buckets, [keyBucket], true)
      // a client may create many keys, so all keys without a rate that it sends from one address share a second limit
      const bucket = `keys of ${client.address}`
      return new RequestMeter(buckets, [
        keyBucket,
        { kind: 'keys-of-address', bucket, rate: settings.key },
      ])
    },
  }
}
