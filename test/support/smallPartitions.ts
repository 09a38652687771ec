import type pg from 'pg'
import { LEAST_AGE_MS } from '../../src/db/journal/archive/write.js'

/** Sets all entries back, as if the registry had been quiet since. */
export const age = (pool: pg.Pool): Promise<unknown> =>
  pool.query(
    `UPDATE journal SET at_ms = at_ms - ${2 * LEAST_AGE_MS}; UPDATE journal_heads SET at_ms = at_ms - ${2 * LEAST_AGE_MS}`,
  )

/** Cuts the mainnet's journal into small partitions. */
export async function cutJournal(pool: pg.Pool, entries: number): Promise<void> {
  const { rows } = await pool.query<{ seq: number }>('SELECT seq::int FROM journal_heads WHERE network = 0')
  const parts = Math.ceil((rows[0]!.seq + 1) / entries)
  await pool.query(`DROP TABLE journal_mainnet_1; ALTER TABLE journal_mainnet DETACH PARTITION journal_mainnet_0;
    ALTER TABLE journal_mainnet_0 RENAME TO filled`)
  for (let n = 0; n < parts; n++) {
    const to = n === parts - 1 ? 10_000_000 : (n + 1) * entries
    await pool.query(`CREATE TABLE journal_mainnet_${n} (LIKE filled INCLUDING ALL);
      ALTER TABLE journal_mainnet ATTACH PARTITION journal_mainnet_${n} FOR VALUES FROM (${n * entries}) TO (${to})`)
  }
  await pool.query('INSERT INTO journal SELECT * FROM filled; DROP TABLE filled; ANALYZE')
}
