import { prepared, type Queryable, readRows } from '../pg/rows.js'

/** The database's time, and for each rate-limit bucket the time at which it is full again (both Unix ms). */
export interface BucketFullTimes {
  nowMs: number
  fullMs: number[]
}

/**
 * Full buckets deleted per sign-in: more than the buckets that a sign-in creates, so the number of rows stays bounded.
 */
const SWEEP_ROWS = 16

const NOW_MS = '(extract(epoch FROM clock_timestamp()) * 1000)::float8'

/** Time at which a bucket is full again. 0 (full) where the clock was set back since the bucket was written. */
const fullMs = (of: string) => `CASE WHEN ${of}at_ms > ${NOW_MS} THEN 0 ELSE ${of}full_ms END`

const READ = prepared(`SELECT ${NOW_MS} AS now_ms, coalesce(${fullMs('')}, 0) AS full_ms
    FROM unnest($1::text[]) WITH ORDINALITY AS a (bucket, i) LEFT JOIN limit_buckets USING (bucket) ORDER BY i`)

/** Locks a bucket by an upsert that changes nothing, since a row that does not exist can't be locked. */
const LOCK =
  prepared(`INSERT INTO limit_buckets AS b (bucket, full_ms) SELECT a.bucket, 0 FROM unnest($1::text[]) AS a (bucket)
    ON CONFLICT (bucket) DO UPDATE SET full_ms = ${fullMs('b.')} RETURNING bucket, full_ms, ${NOW_MS} AS now_ms`)

const WRITE = prepared(`INSERT INTO limit_buckets (bucket, full_ms, at_ms)
    SELECT a.bucket, a.full_ms, ${NOW_MS} FROM unnest($1::text[], $2::float8[]) AS a (bucket, full_ms) WHERE a.full_ms > ${NOW_MS}
    ON CONFLICT (bucket) DO UPDATE SET full_ms = excluded.full_ms, at_ms = excluded.at_ms`)

const SWEEP = `DELETE FROM limit_buckets WHERE bucket = ANY (ARRAY(
    SELECT bucket FROM limit_buckets WHERE full_ms < ${NOW_MS} ORDER BY full_ms LIMIT ${SWEEP_ROWS}
    FOR UPDATE SKIP LOCKED))`

/** Reads buckets, in the given order. A bucket without a row is full. */
export async function readBuckets(
  db: Queryable,
  buckets: readonly string[],
): Promise<BucketFullTimes> {
  const rows = await readRows<{ nowMs: number; fullMs: number }>(db, READ, [buckets])
  return { nowMs: rows[0]!.nowMs, fullMs: rows.map(({ fullMs }) => fullMs) }
}

/** Like `readBuckets`, with the buckets locked until the end of the transaction. */
export async function lockBuckets(
  db: Queryable,
  buckets: readonly string[],
): Promise<BucketFullTimes> {
  const rows = await readRows<{ bucket: string; nowMs: number; fullMs: number }>(db, LOCK, [
    buckets,
  ])
  const fullMs = new Map(rows.map((row) => [row.bucket, row.fullMs]))
  // the clock as read after the last lock
  return { nowMs: rows.at(-1)!.nowMs, fullMs: buckets.map((bucket) => fullMs.get(bucket)!) }
}

/** Writes buckets that the transaction has locked. A full bucket needs no row. */
export async function writeBuckets(
  db: Queryable,
  buckets: readonly string[],
  fullMs: readonly number[],
): Promise<void> {
  await readRows(db, WRITE, [buckets, fullMs])
}

export async function deleteFullBuckets(db: Queryable): Promise<void> {
  await readRows(db, SWEEP)
}
