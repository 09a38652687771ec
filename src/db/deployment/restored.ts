import type pg from 'pg'
import { JOB_STATE } from '../../registry/outbox.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import type { JournalHead } from '../generated/client.js'
import { endLeaderships, lockJournalHead } from '../journal/head.js'
import { codeListSql } from '../pg/codes.js'
import { notifyNetwork } from '../pg/notify.js'
import { inTransaction } from '../pg/pool.js'
import { type DecodedRow, execute, prepared, query, readRows } from '../pg/rows.js'

/** Result of a network's reset after its database lost the newest commits. */
export interface RestoreReport {
  /** Generations of the feed before and after. */
  feed: { from: number; to: number }
  /** Number of entries in the restored journal. */
  entries: number
  /** Number of jobs that are neither confirmed nor parked. The relayer checks all of them again, without back-off. */
  jobs: number
}

/**
 * SQL: next generation of the feed: the seconds since 2025, or one more than the last if that is higher. Two restores
 * of the same backup get different generations.
 */
const NEXT_FEED_GENERATION_SQL = `greatest(feed_generation + 1,
  (extract(epoch FROM clock_timestamp()) - extract(epoch FROM timestamptz '2025-01-01 00:00Z'))::int4)`

const ACTIVE_STATES_SQL = codeListSql(JOB_STATE, 'queued', 'signed', 'sent', 'included')

/**
 * Resets a network, in the caller's transaction, after a backup was restored or a standby without the last commits was
 * promoted. The feed gets a new generation, signed changes wait until the hub's head is folded again, leaders start
 * again, and every job that is neither confirmed nor parked is checked. The journal stays: its lost entries are read
 * again from the chains.
 */
export async function resetNetworkAfterRestore(
  client: pg.ClientBase,
  network: Network,
): Promise<RestoreReport> {
  const { seq: entries } = await lockJournalHead(client, network, null)
  await endLeaderships(client, network)
  const sql = `UPDATE journal_heads h SET feed_generation = ${NEXT_FEED_GENERATION_SQL}, caught_up = false
    FROM (SELECT network, feed_generation AS was FROM journal_heads WHERE network = $1) old
    WHERE h.network = old.network RETURNING old.was AS "from", h.feed_generation AS "to"`
  const [feed] = await query<RestoreReport['feed']>(client, network, sql)
  const recheck = `UPDATE jobs SET next_ms = 0, version = version + 1 WHERE network = $1 AND state IN (${ACTIVE_STATES_SQL})`
  const jobs = await execute(client, network, recheck)
  await notifyNetwork(client, network)
  return { feed: feed!, entries, jobs }
}

/**
 * Calls `resetNetworkAfterRestore` if the feed still has the given generation, so that a loss is handled once.
 * @param epoch epoch of the indexing leader, if it detected the loss by a comparison with its memory. A later leader
 * may have caused the difference itself. Null where the detection does not depend on a leader.
 * @throws LostLeadershipError when another process leads
 */
export const resetFeedOnceAfterRestore = (
  pool: pg.Pool,
  network: Network,
  feedGeneration: number,
  epoch: number | null,
): Promise<void> =>
  inTransaction(pool, async (client) => {
    await lockJournalHead(client, network, epoch)
    const feed = 'SELECT feed_generation FROM journal_heads WHERE network = $1'
    const [locked] = await query<SeenHead>(client, network, feed)
    if (locked!.feedGeneration === feedGeneration) await resetNetworkAfterRestore(client, network)
  })

/** The newest entry that this process has seen committed, with the feed's generation at that time. */
type SeenHead = Pick<
  DecodedRow<JournalHead>,
  'network' | 'generation' | 'seq' | 'feedGeneration'
> & {
  /** Digest of the entry. Null before the first entry. */
  entry: string | null
}
/**
 * A head in the database. `seen` is the digest of the entry that this process saw last, as the journal has it now. Null
 * where the journal has no entry of that number.
 */
type ComparedHead = SeenHead & { seen: string | null }

const entryDigestSql = (seq: string): string =>
  `(SELECT md5(row(j.at_ms, j.block, j.log_index, j.body)::text) FROM journal j
    WHERE j.network = h.network AND j.generation = h.generation AND j.seq = ${seq})`
/**
 * Journal heads, each with the digests of its newest entry (`entry`) and of the entry that this process saw last
 * (`seen`).
 */
const HEADS_WITH_DIGESTS = `SELECT h.network, h.generation, h.seq, h.feed_generation, ${entryDigestSql('h.seq')} AS entry, ${entryDigestSql('s.seq')} AS seen
  FROM journal_heads h LEFT JOIN unnest($1::int2[], $2::int8[]) AS s(network, seq) ON s.network = h.network
  WHERE NOT pg_is_in_recovery() AND h.proved_block IS NULL`

/**
 * Creates a process's memory of the newest entry of each network. If that entry later differs or is missing, a standby
 * without the last commits was promoted. Then `resetNetworkAfterRestore` runs automatically, once for all processes. A
 * server that is still a standby is not compared, because it may lag. Nor are mirrored networks.
 * @param onBack called after the reset of a network
 * @returns a function that compares the memory with the database, unless a comparison is running. It never throws.
 */
export function createRestoreDetector(
  pool: pg.Pool,
  onBack: (network: Network) => void,
): () => Promise<void> {
  let memory: readonly SeenHead[] = []
  let isComparing = false
  const check = async (): Promise<void> => {
    const values = [
      memory.map(({ network }) => NETWORK_CODE[network]),
      memory.map(({ seq }) => seq),
    ]
    const heads = await readRows<ComparedHead>(pool, prepared(HEADS_WITH_DIGESTS), values)
    for (const head of heads) {
      const seen = memory.find(({ network }) => network === head.network)
      if (!seen || !hasLostCommits(seen, head)) continue
      const { network } = head
      await resetFeedOnceAfterRestore(pool, network, head.feedGeneration, null)
      onBack(network)
    }
    if (heads.length > 0) memory = heads
  }
  return async () => {
    if (isComparing) return
    isComparing = true
    await check().catch(() => {})
    isComparing = false
  }
}

/**
 * True if a network's journal went back: a generation is lower than this process saw it, or the same generation does
 * not have the entry that this process saw last. False for a higher generation, which a rewind began, and for a higher
 * `feedGeneration`, since another process has reset the network already.
 */
const hasLostCommits = (
  before: SeenHead,
  { generation, feedGeneration, seen }: ComparedHead,
): boolean =>
  feedGeneration < before.feedGeneration ||
  (feedGeneration === before.feedGeneration &&
    (generation < before.generation || (generation === before.generation && seen !== before.entry)))
