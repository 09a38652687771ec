import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import type { EmptyBucket } from '../../db/auth/limitBuckets.js'
import type { ChangeLimit } from '../../db/journal/appendSignedChanges.js'
import { type BucketRate, ratePerDay, ratePerMinute } from '../../ops/tokenBucket.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import type { ApiError } from '../http/errors.js'
import { assertSharedLimitsAllow, bucketNamesOf, sharedLimitError } from './shared.js'

/**
 * An address may make as many changes a day as this number of wallets: wallets cost nothing, and changes are stored
 * for ever.
 */
const WALLETS_OF_ADDRESS = 100

/** Limits of a wallet's changes on a network. */
export interface ChangeLimits {
  changesPerMinute: number
  changesPerDay: number
  clustersPerDay: number
  /** Names below communities that are registered without a payment. */
  namesPerDay: number
}

/** Caller of a change, whose buckets the change is charged to. */
interface Changer {
  network: Network
  wallet: Buffer
  /** Community whose rules the change replaces; its owners share one limit. */
  community: string | null
  /** Address of the client; null where the operator gave the client's key its own limits. */
  address: string | null
}

function limitsOf(
  limits: ChangeLimits,
  { network, wallet, community, address }: Changer,
): ChangeLimit[] {
  const limitOf =
    (whose: string) =>
    (kind: string, per: ChangeLimit['per'], rate: BucketRate): ChangeLimit => ({
      kind,
      per,
      rate,
      bucket: `${kind} ${network} ${whose}`,
    })
  const changesOf = (limit: ReturnType<typeof limitOf>) => [
    limit('changes-a-minute', 'changes', ratePerMinute(limits.changesPerMinute)),
    limit('changes-a-day', 'changes', ratePerDay(limits.changesPerDay)),
  ]
  const ofAddress = ratePerDay(WALLETS_OF_ADDRESS * limits.changesPerDay)
  const own = limitOf(toHex(wallet))
  return [
    ...changesOf(own),
    own('clusters-a-day', 'clusters', ratePerDay(limits.clustersPerDay)),
    own('names-a-day', 'names', ratePerDay(limits.namesPerDay)),
    ...(community === null ? [] : changesOf(limitOf(`rules of ${community}`))),
    ...(address === null ? [] : [limitOf(address)('changes-of-address', 'changes', ofAddress)]),
  ]
}

/** Who requests a change, and what limits apply. */
interface Asked {
  network: Network
  pool: pg.Pool
  limits: ChangeLimits | null
  caller?: { address: string; isRaised: boolean }
}

/**
 * Kinds of limits whose refusals are remembered. Their buckets belong to a wallet, the rules of a community, or an
 * address.
 */
const NOTED = ['changes-a-minute', 'changes-of-address']
const notedOf = (limits: readonly ChangeLimit[]): string[] =>
  bucketNamesOf(limits.filter(({ kind }) => NOTED.includes(kind)))

/** Buckets that refused a change lately. Further changes charged to them are refused without waiting in the queue. */
const refused = new LRUCache<string, true>({ max: 10_000, ttl: 60_000 })

/**
 * The limits of a change. Refuses it at once where one of its buckets refused lately and is still empty.
 * @returns the limits to charge the change to; none where nothing is limited
 * @throws ApiError rate_limited
 */
export async function limitsOfChange(
  { pool, network, limits, caller }: Asked,
  wallet: Buffer,
  community: string | null,
): Promise<readonly ChangeLimit[]> {
  if (!limits) return []
  const address = caller && !caller.isRaised ? caller.address : null
  const own = limitsOf(limits, { network, wallet, community, address })
  if (notedOf(own).some((bucket) => refused.has(bucket))) {
    const least = own.filter(({ per }) => per === 'changes')
    await assertSharedLimitsAllow(
      pool,
      least.map((limit) => ({ ...limit, units: 1 })),
    )
  }
  return own
}

/** Error of a change that reached one of its limits. */
export function changeLimitError(limits: readonly ChangeLimit[], reached: EmptyBucket): ApiError {
  for (const bucket of notedOf(limits)) refused.set(bucket, true)
  return sharedLimitError(reached)
}
