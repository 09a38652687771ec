import type pg from 'pg'
import {
  type BucketTimes,
  lockBuckets,
  readBuckets,
  sweepBuckets,
  writeBuckets,
} from '../../db/auth/limitBuckets.js'
import { inTransaction } from '../../db/pg/pool.js'
import type { Queryable } from '../../db/pg/rows.js'
import { withdraw } from './bucket.js'
import { headersOf, limited, type Quota } from './meter.js'

/** Units to withdraw from a bucket that all processes share. */
export interface Charge extends Quota {
  units: number
}

export const bucketsOf = (charges: readonly Charge[]): string[] =>
  charges.map(({ bucket }) => bucket)

/** @returns the new times of the buckets @throws ApiError rate_limited */
function withdrawn(charges: readonly Charge[], { nowMs, fullMs }: BucketTimes): number[] {
  return charges.map((charge, i) => {
    const made = withdraw(charge.rate, fullMs[i]!, nowMs, charge.units)
    if (made.waitMs > 0) throw limited(charge.kind, made.waitMs, headersOf(charge, 0, made.waitMs))
    return made.fullMs
  })
}

/** Checks the buckets without a withdrawal. @throws ApiError rate_limited where they do not hold the units */
export async function requireShared(db: Queryable, charges: readonly Charge[]): Promise<void> {
  withdrawn(charges, await readBuckets(db, bucketsOf(charges)))
}

/**
 * Withdraws from buckets that were read under a lock. @returns the write, for the same transaction @throws ApiError
 * rate_limited
 */
export function spendRead(charges: readonly Charge[], times: BucketTimes) {
  const left = withdrawn(charges, times)
  return (db: Queryable): Promise<void> => writeBuckets(db, bucketsOf(charges), left)
}

/** Withdraws in a transaction of its own. @throws ApiError rate_limited */
export async function spendSharedNow(pool: pg.Pool, charges: readonly Charge[]): Promise<void> {
  await inTransaction(pool, async (client) => {
    const times = await lockBuckets(client, bucketsOf(charges))
    await spendRead(charges, times)(client)
  })
  await sweepBuckets(pool)
}
