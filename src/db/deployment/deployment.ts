import type pg from 'pg'
import type { Network } from '../../registry/primitives/network.js'
import { type Queryable, query, readRows } from '../pg/rows.js'

/** The installation's key that seals page tokens of the feed, 32 bytes, made with its database. */
export async function readPageKey(pool: pg.Pool): Promise<Buffer> {
  const rows = await readRows<{ pageKey: Buffer }>(pool, 'SELECT page_key FROM deployment WHERE id = 1')
  return rows[0]!.pageKey
}

/** Minimum bid in force on a network's hub, in wei. */
export async function readMinimumWei(pool: pg.Pool, network: Network): Promise<bigint> {
  const text = 'SELECT minimum_wei FROM journal_heads WHERE network = $1'
  return (await query<{ minimumWei: bigint }>(pool, network, text))[0]!.minimumWei
}

/** Counts of a network's clusters and of the events of its feed, as its head says. */
export async function readCounts(db: Queryable, network: Network): Promise<{ clusters: number; events: number }> {
  const text = 'SELECT serial AS clusters, public_seq AS events FROM journal_heads WHERE network = $1'
  const statement = { name: 'overview_counts', text }
  return (await query<{ clusters: number; events: number }>(db, network, statement))[0]!
}

/** Version of the server, as text and as a number (140005 is 14.5), and its clock, ms. */
export async function readServer(pool: pg.Pool): Promise<{ version: string; number: number; nowMs: number }> {
  const text = `SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,
    (extract(epoch FROM clock_timestamp()) * 1000)::int8 AS now_ms`
  return (await readRows<{ version: string; number: number; nowMs: number }>(pool, text))[0]!
}
