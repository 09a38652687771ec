import type pg from 'pg'
import {
  deleteFullBuckets,
  type ExceededQuota,
  lockBuckets,
  withdrawFromBuckets,
  writeBuckets,
} from '../../db/auth/limitBuckets.js'
import { inTransaction } from '../../db/pg/pool.js'
import type { BucketQuota } from '../../ops/tokenBucket.js'
import type { ApiError } from '../http/errors.js'
import { rateLimitedError } from './meter.js'

/** Error of a limit that all processes share. */
export const sharedLimitError = ({ quota: { kind, rate }, waitMs }: ExceededQuota): ApiError =>
  rateLimitedError(kind, waitMs, rate)

/**
 * Charges a request to buckets in the database, which all processes share. Without quotas nothing is limited.
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
  const charges = quotas.map(({ bucket, rate }) => ({
    kind,
    bucket: `${kind} ${bucket}`,
    rate,
    units,
  }))
  await inTransaction(pool, async (client) => {
    const stored = await lockBuckets(
      client,
      charges.map(({ bucket }) => bucket),
    )
    const left = withdrawFromBuckets(charges, stored)
    if ('quota' in left) throw sharedLimitError(left)
    await writeBuckets(client, left)
  })
  await deleteFullBuckets(pool)
}
