import type pg from 'pg'
import { notify } from '../../pg/notify.js'
import { type Queryable, query } from '../../pg/rows.js'
import { lockHead } from '../head.js'
import { rewindRows } from './rows.js'
import type { RewindTarget } from './target.js'

/**
 * Takes a chain's rows from a block on back, in the transaction of the indexing leader: of a local chain that came back
 * without its newest blocks. Journal, generation and page tokens stay.
 * @returns false where the journal has entries of those blocks
 * @throws LostLeadershipError
 */
export async function takeRowsBack(client: pg.ClientBase, target: RewindTarget, epoch: number): Promise<boolean> {
  const { network } = target.row
  await lockHead(client, network, epoch)
  if (await hasEntries(client, target)) return false
  await rewindRows(client, target)
  await notify(client, network)
  return true
}

/** Tells whether the journal in force has entries of the chain's dropped blocks. */
async function hasEntries(db: Queryable, { row, block }: RewindTarget): Promise<boolean> {
  const text = `SELECT EXISTS (SELECT FROM journal_heads h JOIN journal j ON j.network = h.network
      AND j.generation = h.generation AND j.chain = $2 AND j.block >= $3
    WHERE h.network = $1) AS found`
  return (await query<{ found: boolean }>(db, row.network, text, [row.chain, block]))[0]!.found
}
