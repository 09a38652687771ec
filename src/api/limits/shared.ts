import type pg from 'pg'
import {
  type BucketFullTimes,
  deleteFullBuckets,
  lockBuckets,
  writeBuckets,
} from '../../db/auth/limitBuckets.js'
import { inTransaction } from '../../db/pg/pool.js'
import { withdrawUnits } from './bucket.js'
import { type BucketQuota, rateLimitedError } from './meter.js'

/** Units to withdraw from a bucket that all processes share. */
interface SharedCharge extends Omit<BucketQuota, 'bucket'> {
  units: number
}

/**
 * Withdraws the charges from buckets as they were read.
 * @returns the times at which the buckets will be full again
 * @throws ApiError rate_limited
 */
export const withdrawCharges = (
  charges: readonly SharedCharge[],
  { nowMs, fullMs }: BucketFullTimes,
): number[] =>
  charges.map(({ kind, rate, units }, i) => {
    const withdrawn = withdrawUnits(rate, fullMs[i]!, nowMs, units)
    if (withdrawn.waitMs > 0) throw rateLimitedError(kind, withdrawn.waitMs, rate)
    return withdrawn.fullMs
  })

/**
 * Counts a request in the database, for all processes. Without quotas nothing is limited.
 * @param kind name of the limit, which has a bucket for each of the client's quotas
 * @throws ApiError rate_limited
 */
export async function spendSharedUnits(
  pool: pg.Pool,
  kind: string,
  quotas: readonly Omit<BucketQuota, 'kind'>[],
  units: number,
): Promise<void> {
  if (quotas.length === 0) return
  const charges = quotas.map(({ rate }) => ({ kind, rate, units }))
  const buckets = quotas.map(({ bucket }) => `${kind} ${bucket}`)
  await inTransaction(pool, async (client) => {
    const times = await lockBuckets(client, buckets)
    await writeBuckets(client, buckets, withdrawCharges(charges, times))
  })
  await deleteFullBuckets(pool)
}
