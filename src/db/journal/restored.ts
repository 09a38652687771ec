import type pg from 'pg'
import { JOB_STATE } from '../../registry/outbox.js'
import type { Network } from '../../registry/primitives/network.js'
import { codeList } from '../pg/codes.js'
import { notify } from '../pg/notify.js'
import { execute, query } from '../pg/rows.js'
import { endLeaders, lockHead } from './head.js'

/** Parts that begin anew in a network whose database went back in time. */
export interface Restored {
  /** Numbers of the feed before and after. */
  feed: { from: number; to: number }
  /** Entries of the journal as it was restored. */
  entries: number
  /** Jobs under way, which are looked at again at once. */
  jobs: number
}

/**
 * The next number of the feed: minutes since the epoch, since a backup knows no number that was given out after it,
 * and two restores of one backup must not give the same.
 */
const NEXT_FEED = 'greatest(feed_generation + 1, floor(extract(epoch FROM clock_timestamp()) / 60)::int4)'

const LIVE = codeList(JOB_STATE, 'queued', 'signed', 'sent', 'included')

/**
 * Begins anew, in the caller's transaction, after a backup was restored or a standby took over that lacked commits:
 * the feed gets another number, signed changes wait until the hub's head is folded again, leaders take over anew, and
 * every job under way is looked at. The journal stays as it is: what it lost of the chains is read again.
 */
export async function beginAfterRestore(client: pg.ClientBase, network: Network): Promise<Restored> {
  const { seq: entries } = await lockHead(client, network, null)
  await endLeaders(client, network)
  const sql = `UPDATE journal_heads h SET feed_generation = ${NEXT_FEED}, caught_up = false
    FROM (SELECT network, feed_generation AS was FROM journal_heads WHERE network = $1) old
    WHERE h.network = old.network RETURNING old.was AS "from", h.feed_generation AS "to"`
  const [feed] = await query<Restored['feed']>(client, network, sql)
  const live = `UPDATE jobs SET next_ms = 0, version = version + 1 WHERE network = $1 AND state IN (${LIVE})`
  const jobs = await execute(client, network, live)
  await notify(client, network)
  return { feed: feed!, entries, jobs }
}
