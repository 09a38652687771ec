import { type BucketQuota, withdrawUnits } from '../../ops/tokenBucket.js'
import { type PreparedText, prepared, type Queryable, readRows } from '../pg/rows.js'

/** Time at which each bucket is full again, Unix ms, by the bucket's name. */
type FullTimes = ReadonlyMap<string, number>

/**
 * Rate-limit buckets as read from the database. `nowMs` is the database's time, Unix ms. It is 0 if no bucket was
 * requested.
 */
export interface StoredBuckets {
  nowMs: number
  fullMs: FullTimes
}

/** Units to withdraw from a bucket. */
export interface BucketCharge extends BucketQuota {
  units: number
}

/** A quota whose bucket has too few units for a withdrawal, and the time until the withdrawal can succeed, ms. */
export interface ExceededQuota {
  quota: BucketQuota
  waitMs: number
}

/**
 * Withdraws units from buckets, in memory only: `writeBuckets` stores the result. If a bucket has too few units,
 * nothing is withdrawn from any.
 * @returns the times at which the buckets will be full again, or the first bucket with too few units
 */
export function withdrawFromBuckets(
  charges: readonly BucketCharge[],
  { nowMs, fullMs }: StoredBuckets,
): FullTimes | ExceededQuota {
  const left = new Map<string, number>()
  for (const { units, ...quota } of charges) {
    const made = withdrawUnits(quota.rate, fullMs.get(quota.bucket) ?? 0, nowMs, units)
    if (made.waitMs > 0) return { quota, waitMs: made.waitMs }
    left.set(quota.bucket, made.fullMs)
  }
  return left
}

/**
 * Maximum number of full buckets deleted after each charge of shared limits. A charge creates fewer, so the number of
 * rows stays bounded.
 */
const SWEEP_ROWS = 16

/** SQL: the database's clock, Unix ms with fractions, like the times in the buckets. */
const PRECISE_NOW_MS_SQL = '(extract(epoch FROM clock_timestamp()) * 1000)::float8'

/**
 * SQL: time at which a bucket is full again. 0 (full) where the clock was set back since the bucket was written.
 * @param of table alias with a dot, or empty
 */
const fullMsSql = (of: string) =>
  `CASE WHEN ${of}at_ms > ${PRECISE_NOW_MS_SQL} THEN 0 ELSE ${of}full_ms END`

const READ_BUCKETS =
  prepared(`SELECT bucket, ${PRECISE_NOW_MS_SQL} AS now_ms, coalesce(${fullMsSql('')}, 0) AS full_ms
    FROM unnest($1::text[]) AS a (bucket) LEFT JOIN limit_buckets USING (bucket)`)

/**
 * Returns what `READ_BUCKETS` returns, with the buckets locked. Full buckets without a row get one, since only a row
 * can be locked.
 */
const LOCK_BUCKETS =
  prepared(`INSERT INTO limit_buckets AS b (bucket, full_ms) SELECT a.bucket, 0 FROM unnest($1::text[]) AS a (bucket)
    ON CONFLICT (bucket) DO UPDATE SET full_ms = ${fullMsSql('b.')} RETURNING bucket, full_ms, ${PRECISE_NOW_MS_SQL} AS now_ms`)

const WRITE_BUCKETS = prepared(`INSERT INTO limit_buckets (bucket, full_ms, at_ms)
    SELECT a.bucket, a.full_ms, ${PRECISE_NOW_MS_SQL} FROM unnest($1::text[], $2::float8[]) AS a (bucket, full_ms) WHERE a.full_ms > ${PRECISE_NOW_MS_SQL}
    ON CONFLICT (bucket) DO UPDATE SET full_ms = excluded.full_ms, at_ms = excluded.at_ms`)

const DELETE_FULL_BUCKETS = `DELETE FROM limit_buckets WHERE bucket = ANY (ARRAY(
    SELECT bucket FROM limit_buckets WHERE full_ms < ${PRECISE_NOW_MS_SQL} ORDER BY full_ms LIMIT ${SWEEP_ROWS}
    FOR UPDATE SKIP LOCKED))`

async function readStoredBuckets(
  db: Queryable,
  statement: PreparedText,
  buckets: readonly string[],
): Promise<StoredBuckets> {
  const rows = await readRows<{ bucket: string; nowMs: number; fullMs: number }>(db, statement, [
    buckets,
  ])
  const fullMs = new Map(rows.map((row) => [row.bucket, row.fullMs]))
  // the clock in the last row was read after the last lock
  return { nowMs: rows.at(-1)?.nowMs ?? 0, fullMs }
}

/** Reads buckets. A bucket without a row is full. */
export const readBuckets = (db: Queryable, buckets: readonly string[]): Promise<StoredBuckets> =>
  readStoredBuckets(db, READ_BUCKETS, buckets)

/** Like `readBuckets`, with the buckets locked until the end of the transaction. */
export const lockBuckets = (db: Queryable, buckets: readonly string[]): Promise<StoredBuckets> =>
  readStoredBuckets(db, LOCK_BUCKETS, buckets)

/**
 * Writes buckets. The caller holds the lock that all writers of these buckets take: `lockBuckets`, or the lock of the
 * journal's head. Writes no row for a full bucket.
 */
export async function writeBuckets(db: Queryable, left: FullTimes): Promise<void> {
  await readRows(db, WRITE_BUCKETS, [[...left.keys()], [...left.values()]])
}

export async function deleteFullBuckets(db: Queryable): Promise<void> {
  await readRows(db, DELETE_FULL_BUCKETS)
}
