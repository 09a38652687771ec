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

/**
 * The database refused a write: another process leads the network's indexing or relaying, so this process may not write
 * in that role any more.
 */
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
  /** The database's clock, Unix ms. It limits timestamps of new entries, since all writers share only this clock. */
  nowMs: number
}

const SELECT_HEADS =
  'SELECT h.generation, h.seq, h.public_seq, h.at_ms, h.serial, h.minimum_wei, h.caught_up FROM journal_heads h'
const SELECT_HEAD = `${SELECT_HEADS} WHERE h.network = $1`

/** SQL call that makes the transaction's later statements use indexes, also on new tables without statistics. */
const PLAN_BY_INDEX_SQL = `set_config('enable_seqscan', 'off', true)`

/** Prepares a statement that locks a head. `text` selects the head for update. The clock is read after the lock. */
const prepareHeadLock = (text: string) =>
  prepared(`WITH head AS (${text})
    SELECT *, ${NOW_MS_SQL} AS now_ms FROM head WHERE ${PLAN_BY_INDEX_SQL} = 'off'`)
const LOCK_HEAD = prepareHeadLock(`${SELECT_HEAD} FOR UPDATE`)
/**
 * Selects the head for the indexing leader of an epoch (`$2`), and locks head and epoch. Finds no row if the leader has
 * another epoch, or if the network is mirrored, since a mirror's journal gets no entries from chains.
 */
const SELECT_LED_HEAD = `${SELECT_HEADS} JOIN leaders l ON l.network = h.network AND l.role = ${LEADER_ROLE.index}
  WHERE h.network = $1 AND l.epoch = $2 AND h.proved_block IS NULL FOR UPDATE OF h FOR KEY SHARE OF l`
const LOCK_LED_HEAD = prepareHeadLock(SELECT_LED_HEAD)

/** Reads a network's head without a lock. */
export async function readJournalHead(db: Queryable, network: Network): Promise<StoredJournalHead> {
  return requireHeadRow(await query(db, network, prepared(SELECT_HEAD)), network)
}

/** Versions of the data behind public responses. A cached response is served while its versions stay the same. */
export interface AnswerVersions {
  /** Version of the public registry. */
  version: string
  /** Version of the set of names with unconfirmed bids. */
  factsVersion: string
}

/**
 * SQL: `AnswerVersions`. `version` changes with every public change of the network's registry. It does not change with
 * a private change, because a refreshed response would reveal that one happened.
 */
const registryVersionSql = (l: PartitionNames): string =>
  `SELECT concat_ws(' ', generation, feed_generation, public_seq) AS version, facts_version::text
   FROM journal_heads WHERE network = ${l.network}`

const readVersions = prepareStatement<AnswerVersions>(registryVersionSql)

export async function readAnswerVersions(db: Queryable, network: Network): Promise<AnswerVersions> {
  return requireHeadRow(await readVersions(db, network), network)
}

/**
 * Locks a network's head until the transaction ends. Reads that follow see the previous writer's commit.
 * @param epoch epoch of the indexing leader, who stays leader until the transaction has ended; null for writers that
 * need no leader
 * @throws LostLeadershipError when another process leads; with an epoch, also for a mirrored network
 */
export async function lockJournalHead(
  db: Queryable,
  network: Network,
  epoch: number | null,
): Promise<LockedJournalHead> {
  if (epoch === null)
    return requireHeadRow(await query<LockedJournalHead>(db, network, LOCK_HEAD), network)
  const [head] = await query<LockedJournalHead>(db, network, LOCK_LED_HEAD, [epoch])
  if (!head) throw new LostLeadershipError(network)
  return head
}

/**
 * Like `lockJournalHead`, for writers that need no leader. Until the generation's first catch-up has ended, it locks
 * nothing and returns null.
 */
export const lockJournalHeadIfCaughtUp = prepareSingleRow<LockedJournalHead, []>(
  // without the condition, it would wait for the writer of a catch-up, which may hold the lock for long
  prepareHeadLock(`${SELECT_HEAD} AND h.caught_up FOR UPDATE`),
)

/**
 * Clock of a writer of the journal, Unix ms: the database's time, which limits the timestamps of new entries.
 * @throws ClockError when this process's clock differs from the database's by more than `MAX_CLOCK_SKEW_MS`
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
 * Ends a network's leaderships in these roles, so that the leaders start again. Until the transaction ends, no leader
 * of the network can write, whatever its role.
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
function createEpochAssertion(role: LeaderRole) {
  const text = `SELECT 1 FROM leaders WHERE network = $1 AND role = ${LEADER_ROLE[role]} AND epoch = $2 FOR KEY SHARE`
  return async (db: Queryable, network: Network, epoch: number): Promise<void> => {
    const count = await execute(db, network, prepared(text), [epoch])
    if (count !== 1) throw new LostLeadershipError(network, role)
  }
}

export const assertIndexingLeader = createEpochAssertion('index')

export const assertRelayingLeader = createEpochAssertion('relay')

/**
 * The row of a network's head, or the first row of a query that returns at least one row for each head.
 * @throws Error where the database has no head of the network
 */
export function requireHeadRow<T>([head]: T[], network: Network): T {
  if (!head) throw new Error(`journal_heads has no row for ${network}: run \`clusterd migrate\``)
  return head
}
