import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { CHAINS, type MixWorld } from './world.js'

/** Moments at which nothing that an answer shows changes. */

const POLL_MS = 100
/** Time without a change after which a world stands still. Longer than any cache without a version. */
const STILL_MS = 800
const DEADLINE_MS = 60_000

/** Tables that running processes write all the time: leases, the time of a chain's last poll, rate limits. */
const BEATING = ['leaders', 'chain_states', 'limit_buckets']

/**
 * What distinguishes two states of a database: of each table the number of rows, and the newest transaction that wrote
 * one. A committed change moves one of them.
 */
export async function readState(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT quote_ident(relname) AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
       AND relname <> ALL ($1) ORDER BY relname`,
    [BEATING],
  )
  const each = rows.map(
    ({ name }) =>
      `SELECT '${name}' AS name, count(*), max(xmin::text::int8) AS newest FROM ${name}`,
  )
  const state = await pool.query(each.join(' UNION ALL '))
  return JSON.stringify(state.rows)
}

/** Stops the blocks of a world, and waits until what is under way has ended. */
export async function rest({ stack }: MixWorld, pool: pg.Pool): Promise<void> {
  await Promise.all(CHAINS.map((label) => stack.anvils[label]!.pause()))
  let state = ''
  let sinceMs = performance.now()
  const endMs = sinceMs + DEADLINE_MS
  while (performance.now() - sinceMs < STILL_MS) {
    const now = await readState(pool)
    if (now !== state) sinceMs = performance.now()
    state = now
    if (performance.now() > endMs) throw new Error('the world does not come to rest')
    await sleep(POLL_MS)
  }
}

export const resume = async ({ stack }: MixWorld): Promise<void> =>
  void (await Promise.all(CHAINS.map((label) => stack.anvils[label]!.resume())))
