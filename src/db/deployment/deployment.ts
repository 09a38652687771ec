import type pg from 'pg'
import { type Queryable, readRows } from '../pg/rows.js'

/** Key that encrypts page tokens of the feed: 32 bytes, generated when the database was created. */
export async function readPageTokenKey(pool: pg.Pool): Promise<Buffer> {
  const rows = await readRows<{ pageKey: Buffer }>(
    pool,
    'SELECT page_key FROM deployment WHERE id = 1',
  )
  return rows[0]!.pageKey
}

/** PostgreSQL's version, as text and as a number (140005 is 14.5), and the server's clock, Unix ms. */
export async function readServerVersion(
  db: Queryable,
): Promise<{ version: string; number: number; nowMs: number }> {
  const text = `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
    (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now_ms`
  return (await readRows<{ version: string; number: number; nowMs: number }>(db, text))[0]!
}
