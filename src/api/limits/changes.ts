import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import { type BucketFullTimes, readBuckets } from '../../db/auth/limitBuckets.js'
import type { ChangeRateLimit } from '../../db/journal/appendSignedChanges.js'
import type { Queryable } from '../../db/pg/rows.js'
import type { RowChanges } from '../../registry/fold/rows.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import { type BucketRate, ratePerDay, ratePerMinute } from './bucket.js'
import {
  assertSharedLimitsAllow,
  bucketNamesOf,
  type SharedCharge,
  spendFromLockedBuckets,
} from './shared.js'

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

/** Units that a change costs, by the kind of limit. */
type Work = { [Kind in 'changes' | 'clusters' | 'names']: number }

/** Minimum units of a change. */
const LEAST: Work = { changes: 1, clusters: 0, names: 0 }

/** Journal bytes of a change per unit. */
const BYTES_PER_CHANGE = 1_024

/**
 * Units of a change: its events, its rows of private wallets (which have no events) or its KiB, whichever is largest. A
 * community's rules may be long.
 */
function workOf({ journal, clusters, communityNames, ...rows }: RowChanges): Work {
  const events = journal.reduce((sum, { publicCount }) => sum + publicCount, 0)
  const written = rows.wallets.length + rows.walletUpdates.length + rows.walletRemovals.length
  const size = Math.ceil(journal.reduce((sum, { body }) => sum + body.length, 0) / BYTES_PER_CHANGE)
  return {
    changes: Math.max(1, events, written, size),
    clusters: clusters.length,
    names: communityNames.length,
  }
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

function chargesOf(
  limits: ChangeLimits,
  { network, wallet, community, address }: Changer,
  work: Work,
): SharedCharge[] {
  const chargeOf = (whose: string) => (kind: string, rate: BucketRate, units: number) => ({
    kind,
    rate,
    units,
    bucket: `${kind} ${network} ${whose}`,
  })
  const changesOf = (charge: ReturnType<typeof chargeOf>) => [
    charge('changes-a-minute', ratePerMinute(limits.changesPerMinute), work.changes),
    charge('changes-a-day', ratePerDay(limits.changesPerDay), work.changes),
  ]
  const ofAddress = ratePerDay(WALLETS_OF_ADDRESS * limits.changesPerDay)
  const own = chargeOf(toHex(wallet))
  return [
    ...changesOf(own),
    own('clusters-a-day', ratePerDay(limits.clustersPerDay), work.clusters),
    own('names-a-day', ratePerDay(limits.namesPerDay), work.names),
    ...(community === null ? [] : changesOf(chargeOf(`rules of ${community}`))),
    ...(address === null ? [] : [chargeOf(address)('changes-of-address', ofAddress, work.changes)]),
  ]
}

const isAsked = ({ units }: SharedCharge): boolean => units > 0

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
const notedOf = (charges: readonly SharedCharge[]): string[] =>
  bucketNamesOf(charges.filter(({ kind }) => NOTED.includes(kind)))

/** Buckets that refused a change lately. Further changes charged to them are refused without waiting in the queue. */
const refused = new LRUCache<string, true>({
  maxSize: 10_000,
  sizeCalculation: () => 1,
  ttl: 60_000,
})

/**
 * Refuses a change at once where one of its buckets refused lately and is still empty.
 * @returns the limit to charge the change to; none where nothing is limited
 * @throws ApiError rate_limited
 */
export async function changeLimitFor(
  { pool, network, limits, caller }: Asked,
  wallet: Buffer,
  community: string | null,
): Promise<{ limit?: ChangeRateLimit }> {
  if (!limits) return {}
  const changer = {
    network,
    wallet,
    community,
    address: caller && !caller.isRaised ? caller.address : null,
  }
  const least = chargesOf(limits, changer, LEAST)
  if (notedOf(least).some((bucket) => refused.has(bucket)))
    await assertSharedLimitsAllow(pool, least.filter(isAsked))
  return { limit: bucketLimit(limits, changer, least) }
}

/** Limit of one change, by buckets that all processes share. */
function bucketLimit(
  limits: ChangeLimits,
  changer: Changer,
  least: readonly SharedCharge[],
): ChangeRateLimit {
  let before: BucketFullTimes
  let spend: (db: Queryable) => Promise<void>
  return {
    async read(db) {
      before = await readBuckets(db, bucketNamesOf(least))
    },
    /** @throws ApiError rate_limited */
    charge(changes) {
      const charges = chargesOf(limits, changer, workOf(changes))
      const fullMs = before.fullMs.filter((_, i) => isAsked(charges[i]!))
      try {
        spend = spendFromLockedBuckets(charges.filter(isAsked), { nowMs: before.nowMs, fullMs })
      } catch (error) {
        for (const bucket of notedOf(least)) refused.set(bucket, true)
        throw error
      }
    },
    write: (db) => spend(db),
  }
}
