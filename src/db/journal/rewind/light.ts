import type pg from 'pg'
import { notify } from '../../pg/notify.js'
import { execute, type Queryable, query } from '../../pg/rows.js'
import { endIndexing, lockHead } from '../head.js'
import { despiteDeadlocks } from './lock.js'
import { type RewindReport, readLightReport } from './report.js'
import { rewindRows } from './rows.js'
import type { RewindTarget } from './target.js'

/**
 * Rewinds a chain of whose dropped blocks the journal has nothing, as a spoke's mostly: its rows alone, in one
 * transaction behind the head's lock. Journal, generation and page tokens stay.
 * @returns null where the journal has entries of those blocks
 */
export async function rewindLightly(
  client: pg.ClientBase,
  target: RewindTarget,
  isApplied: boolean,
): Promise<RewindReport | null> {
  const { network } = target.row
  if (await hasEntries(client, target)) return null
  const report = await readLightReport(client, target)
  if (!isApplied) return report
  return despiteDeadlocks(client, async () => {
    await client.query('BEGIN')
    const isDone = await takeRowsBack(client, target, null)
    // names may be taken in blocks that are not read yet
    if (target.isHub) await execute(client, network, 'UPDATE journal_heads SET caught_up = false WHERE network = $1')
    await client.query(isDone ? 'COMMIT' : 'ROLLBACK')
    return isDone ? report : null
  })
}

/**
 * Takes a chain's rows from a block on back, in the caller's transaction.
 * @param epoch that of the indexing leader, where it does so itself; null: it takes over anew
 * @returns false where the journal has entries of those blocks
 * @throws LostLeadershipError
 */
export async function takeRowsBack(
  client: pg.ClientBase,
  target: RewindTarget,
  epoch: number | null,
): Promise<boolean> {
  const { network } = target.row
  await lockHead(client, network, epoch)
  if (epoch === null) await endIndexing(client, network)
  if (await hasEntries(client, target)) return false
  await rewindRows(client, target)
  await notify(client, network)
  return true
}

/** Whether the journal in force has entries of the chain's dropped blocks. */
async function hasEntries(db: Queryable, { row, block }: RewindTarget): Promise<boolean> {
  const text = `SELECT EXISTS (SELECT FROM journal_heads h JOIN journal j ON j.network = h.network
      AND j.generation = h.generation AND j.chain = $2 AND j.block >= $3
    WHERE h.network = $1) AS found`
  return (await query<{ found: boolean }>(db, row.network, text, [row.chain, block]))[0]!.found
}
