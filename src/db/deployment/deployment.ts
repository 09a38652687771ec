import type pg from 'pg'
import { readRows } from '../pg/rows.js'

/** Seals page tokens of the feed; 32 bytes, made with the database. */
export async function readPageKey(pool: pg.Pool): Promise<Buffer> {
  const rows = await readRows<{ pageKey: Buffer }>(
    pool,
    'SELECT page_key FROM deployment WHERE id = 1',
  )
  return rows[0]!.pageKey
}

/** Version of the server, as text and as a number (140005 is 14.5), and its clock, ms. */
export async function readServer(
  pool: pg.Pool,
): Promise<{ version: string; number: number; nowMs: number }> {
  const text = `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
    (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now_ms`
  return (await readRows<{ version: string; number: number; nowMs: number }>(pool, text))[0]!
}
