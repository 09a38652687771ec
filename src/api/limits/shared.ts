import type pg from 'pg'
import { type BucketTimes, lockBuckets, readBuckets, sweepBuckets, writeBuckets } from '../../db/auth/limitBuckets.js'
import { inTransaction } from '../../db/pg/pool.js'
import type { Queryable } from '../../db/pg/rows.js'
import { withdraw } from './bucket.js'
import { headersOf, limited, type Quota } from './meter.js'

/** Units asked of a bucket that all processes share. */
export interface Charge extends Quota {
  units: number
}

const bucketsOf = (charges: readonly Charge[]): string[] => charges.map(({ bucket }) => bucket)

/** @returns the buckets' new times @throws ApiError rate_limited */
function withdrawn(charges: readonly Charge[], { nowMs, fullMs }: BucketTimes): number[] {
  return charges.map((charge, i) => {
    const made = withdraw(charge.rate, fullMs[i]!, nowMs, charge.units)
    if (made.waitMs > 0) throw limited(charge.kind, made.waitMs, headersOf(charge, 0, made.waitMs))
    return made.fullMs
  })
}

/** Looks whether shared buckets hold what is asked. @throws ApiError rate_limited */
export async function requireShared(db: Queryable, charges: readonly Charge[]): Promise<void> {
  withdrawn(charges, await readBuckets(db, bucketsOf(charges)))
}

/** Withdraws from all shared buckets; what it throws has to end the transaction. @throws ApiError rate_limited */
export async function spendShared(client: pg.ClientBase, charges: readonly Charge[]): Promise<void> {
  const buckets = bucketsOf(charges)
  await writeBuckets(client, buckets, withdrawn(charges, await lockBuckets(client, buckets)))
}

/** The same in a transaction of its own. @throws ApiError rate_limited */
export async function spendSharedNow(pool: pg.Pool, charges: readonly Charge[]): Promise<void> {
  await inTransaction(pool, (client) => spendShared(client, charges))
  await sweepBuckets(pool)
}
