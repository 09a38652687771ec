import type pg from 'pg'
import type { LeaderContext } from '../../ops/context.js'
import { FatalError } from '../../ops/worker.js'
import type { JournalHead } from '../../registry/fold/rows.js'
import type { Network } from '../../registry/primitives/network.js'
import { LEADER_ROLE, type LeaderRole } from '../leaders/leaders.js'
import { notifyNetwork } from '../pg/notify.js'
import { inTransaction } from '../pg/pool.js'
import { execute, prepared, type Queryable, query } from '../pg/rows.js'
import { assertClocksAgree, NOW_MS_SQL } from '../pg/unavailable.js'
import { type PartitionNames, prepareSingleRow, prepareStatement } from './partitions.js'

/** Another process leads the network, so this one stops writing. */
export class LostLeadershipError extends FatalError {
  override name = 'LostLeadershipError'
  constructor(network: Network, role: LeaderRole = 'index') {
    super(
      `another process leads the ${role === 'index' ? 'indexing' : 'deliveries'} of ${network} now`,
    )
  }
}

export type LeaderScope = Pick<LeaderContext, 'pool' | 'network' | 'epoch'>

export interface StoredJournalHead extends JournalHead {
  caughtUp: boolean
}

/** A head that is locked by this transaction. */
export interface LockedJournalHead extends StoredJournalHead {
  /** The database's clock, Unix ms. Entries are dated by it, since all writers share only this clock. */
  nowMs: number
}

const HEAD =
  'SELECT h.generation, h.seq, h.public_seq, h.at_ms, h.serial, h.minimum_wei, h.caught_up FROM journal_heads h'
const SELECT_HEAD = `${HEAD} WHERE h.network = $1`

/** Makes the transaction plan by indexes, also on new tables without statistics. */
const BY_INDEX = `set_config('enable_seqscan', 'off', true)`

/** Prepares a statement that locks a head, and reads the clock after the lock is granted. */
const locked = (text: string) =>
  prepared(`WITH head AS (${text})
    SELECT *, ${NOW_MS_SQL} AS now_ms FROM head WHERE ${BY_INDEX} = 'off'`)
const LOCK_HEAD = locked(`${SELECT_HEAD} FOR UPDATE`)
/** Locks the head for the indexing leader of an epoch (`$2`). */
const LEAD = `${HEAD} JOIN leaders l ON l.network = h.network AND l.role = ${LEADER_ROLE.index}
  WHERE h.network = $1 AND l.epoch = $2 AND h.proved_block IS NULL FOR UPDATE OF h FOR KEY SHARE OF l`
const LEAD_HEAD = locked(LEAD)

/** Reads a network's head without a lock. */
export async function readJournalHead(db: Queryable, network: Network): Promise<StoredJournalHead> {
  return requireHeadRow(await query(db, network, prepared(SELECT_HEAD)), network)
}

/** Versions of public responses: a version changes whenever a response that depends on it may change. */
export interface AnswerVersions {
  /** Version of the public registry. */
  version: string
  /** Version of the set of names with unconfirmed bids. */
  factsVersion: string
}

/**
 * SQL: `version` is a text that changes with every public change of the network's registry, and with no private
 * change: a refreshed answer would reveal private changes. `facts_version` changes with the names that have
 * unconfirmed bids.
 */
const registryVersionSql = (l: PartitionNames): string =>
  `SELECT concat_ws(' ', generation, feed_generation, public_seq) AS version, facts_version::text
   FROM journal_heads WHERE network = ${l.network}`

const version = prepareStatement<AnswerVersions>(registryVersionSql)

export async function readAnswerVersions(db: Queryable, network: Network): Promise<AnswerVersions> {
  return requireHeadRow(await version(db, network), network)
}

/**
 * Locks a network's head until the transaction ends. Reads that follow see the previous writer's commit.
 * @param epoch epoch of the indexing leader, who stays leader until the transaction has ended; null for writers that
 * need no leader
 * @throws LostLeadershipError when another process leads
 */
export async function lockJournalHead(
  db: Queryable,
  network: Network,
  epoch: number | null,
): Promise<LockedJournalHead> {
  if (epoch === null)
    return requireHeadRow(await query<LockedJournalHead>(db, network, LOCK_HEAD), network)
  const [head] = await query<LockedJournalHead>(db, network, LEAD_HEAD, [epoch])
  if (!head) throw new LostLeadershipError(network)
  return head
}

/** Like `lockJournalHead`, for writers that need no leader. @returns null at once during the first catch-up */
export const lockJournalHeadIfCaughtUp = prepareSingleRow<LockedJournalHead, []>(
  // locks nothing during a catch-up, whose writer may hold the lock for long
  locked(`${SELECT_HEAD} AND h.caught_up FOR UPDATE`),
)

/**
 * Time that a writer stores in new entries, Unix ms.
 * @throws ClockError when this process's clock differs from the database's
 */
export function journalTimeMs({ nowMs }: LockedJournalHead): number {
  assertClocksAgree(nowMs)
  return nowMs
}

const WRITE_HEAD = prepared(
  'UPDATE journal_heads SET seq = $2, public_seq = $3, at_ms = $4, serial = $5, minimum_wei = $6 WHERE network = $1',
)

export async function writeJournalHead(
  db: Queryable,
  network: Network,
  head: JournalHead,
): Promise<void> {
  await execute(db, network, WRITE_HEAD, [
    head.seq,
    head.publicSeq,
    head.atMs,
    head.serial,
    head.minimumWei,
  ])
}

/** Records that the epoch's leader has folded the hub up to its confirmed head. @throws LostLeadershipError */
export async function markCaughtUp(pool: pg.Pool, network: Network, epoch: number): Promise<void> {
  await inTransaction(pool, async (client) => {
    await lockJournalHead(client, network, epoch)
    await execute(
      client,
      network,
      'UPDATE journal_heads SET caught_up = true WHERE network = $1 AND NOT caught_up',
    )
    await notifyNetwork(client, network)
  })
}

/**
 * Ends a network's leaderships in these roles, so that the leaders start again. Prevents writes of all leaders until
 * the transaction ends.
 */
export async function endLeaderships(
  client: pg.ClientBase,
  network: Network,
  roles: readonly LeaderRole[] = ['index', 'relay'],
): Promise<void> {
  await execute(client, network, 'SELECT FROM leaders WHERE network = $1 ORDER BY role FOR UPDATE')
  const text =
    'UPDATE leaders SET epoch = epoch + 1, until_ms = 0 WHERE network = $1 AND role = ANY ($2::int2[])'
  await execute(client, network, text, [roles.map((role) => LEADER_ROLE[role])])
}

/**
 * Makes a function that checks whether an epoch is the newest of a role, and prevents a newer epoch until the
 * transaction ends. The function throws LostLeadershipError when another process leads.
 */
function assertEpoch(role: LeaderRole) {
  const text = `SELECT 1 FROM leaders WHERE network = $1 AND role = ${LEADER_ROLE[role]} AND epoch = $2 FOR KEY SHARE`
  return async (db: Queryable, network: Network, epoch: number): Promise<void> => {
    const count = await execute(db, network, prepared(text), [epoch])
    if (count !== 1) throw new LostLeadershipError(network, role)
  }
}

export const assertIndexingLeader = assertEpoch('index')

export const assertRelayingLeader = assertEpoch('relay')

/** The row of a network's head, or the first row of a query that returns at least one row for each head. */
export function requireHeadRow<T>([head]: T[], network: Network): T {
  if (!head) throw new Error(`journal_heads has no row for ${network}: run \`clusterd migrate\``)
  return head
}
