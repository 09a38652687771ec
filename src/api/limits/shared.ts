import type pg from 'pg'
import {
  type BucketCharge,
  deleteFullBuckets,
  type EmptyBucket,
  lockBuckets,
  readBuckets,
  type StoredBuckets,
  withdrawFromBuckets,
  writeBuckets,
} from '../../db/auth/limitBuckets.js'
import { inTransaction } from '../../db/pg/pool.js'
import type { Queryable } from '../../db/pg/rows.js'
import type { BucketQuota } from '../../ops/tokenBucket.js'
import type { ApiError } from '../http/errors.js'
import { rateLimitedError, rateLimitHeaders } from './meter.js'

export const bucketNamesOf = (charges: readonly BucketQuota[]): string[] =>
  charges.map(({ bucket }) => bucket)

/** Error of a limit that all processes share. */
export const sharedLimitError = ({ quota, waitMs }: EmptyBucket): ApiError =>
  rateLimitedError(quota.kind, waitMs, rateLimitHeaders(quota, 0, waitMs))

/** As `withdrawFromBuckets`. @throws ApiError rate_limited */
function withdrawn(charges: readonly BucketCharge[], stored: StoredBuckets) {
  const left = withdrawFromBuckets(charges, stored)
  if ('quota' in left) throw sharedLimitError(left)
  return left
}

/** Checks the buckets without a withdrawal. @throws ApiError rate_limited where they do not hold the units */
export async function assertSharedLimitsAllow(
  db: Queryable,
  charges: readonly BucketCharge[],
): Promise<void> {
  withdrawn(charges, await readBuckets(db, bucketNamesOf(charges)))
}

/** Withdraws in a transaction of its own. @throws ApiError rate_limited */
export async function spendSharedUnits(
  pool: pg.Pool,
  charges: readonly BucketCharge[],
): Promise<void> {
  await inTransaction(pool, async (client) => {
    const stored = await lockBuckets(client, bucketNamesOf(charges))
    await writeBuckets(client, withdrawn(charges, stored))
  })
  await deleteFullBuckets(pool)
}
