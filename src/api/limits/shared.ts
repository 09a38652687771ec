import type pg from 'pg'
import {
  type BucketFullTimes,
  deleteFullBuckets,
  lockBuckets,
  readBuckets,
  writeBuckets,
} from '../../db/auth/limitBuckets.js'
import { inTransaction } from '../../db/pg/pool.js'
import type { Queryable } from '../../db/pg/rows.js'
import { withdrawUnits } from './bucket.js'
import { type BucketQuota, rateLimitedError, rateLimitHeaders } from './meter.js'

/** Units to withdraw from a bucket that all processes share. */
export interface SharedCharge extends BucketQuota {
  units: number
}

export const bucketNamesOf = (charges: readonly SharedCharge[]): string[] =>
  charges.map(({ bucket }) => bucket)

/**
 * Withdraws the charges from buckets that were read.
 * @returns the times at which the buckets will be full again
 * @throws ApiError rate_limited
 */
function withdrawn(charges: readonly SharedCharge[], { nowMs, fullMs }: BucketFullTimes): number[] {
  return charges.map((charge, i) => {
    const made = withdrawUnits(charge.rate, fullMs[i]!, nowMs, charge.units)
    if (made.waitMs > 0)
      throw rateLimitedError(charge.kind, made.waitMs, rateLimitHeaders(charge, 0, made.waitMs))
    return made.fullMs
  })
}

/** Checks the buckets without a withdrawal. @throws ApiError rate_limited where they do not hold the units */
export async function assertSharedLimitsAllow(
  db: Queryable,
  charges: readonly SharedCharge[],
): Promise<void> {
  withdrawn(charges, await readBuckets(db, bucketNamesOf(charges)))
}

/**
 * Withdraws from buckets that were read under a lock.
 * @returns function that writes the new state of the buckets in the same transaction
 * @throws ApiError rate_limited
 */
export function spendFromLockedBuckets(charges: readonly SharedCharge[], times: BucketFullTimes) {
  const left = withdrawn(charges, times)
  return (db: Queryable): Promise<void> => writeBuckets(db, bucketNamesOf(charges), left)
}

/** Withdraws in a transaction of its own. @throws ApiError rate_limited */
export async function spendSharedUnits(
  pool: pg.Pool,
  charges: readonly SharedCharge[],
): Promise<void> {
  await inTransaction(pool, async (client) => {
    const times = await lockBuckets(client, bucketNamesOf(charges))
    await spendFromLockedBuckets(charges, times)(client)
  })
  await deleteFullBuckets(pool)
}
