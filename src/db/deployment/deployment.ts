import type pg from 'pg'
import type { Network } from '../../registry/primitives/network.js'
import { query, readRows } from '../pg/rows.js'

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
