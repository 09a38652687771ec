import type { LeaderContext } from '../../ops/context.js'
import type { Worker } from '../../ops/worker.js'
import { JOB_STATE } from '../../registry/outbox.js'
import type { Network } from '../../registry/primitives/network.js'
import { hideSqlFeedCopy } from '../feed/feed.js'
import { partitionName } from '../journal/partitions.js'
import { execute, type Queryable } from '../pg/rows.js'

const DAY_MS = 86_400_000
/** How long transactions without effect and the signed bytes of ended jobs are kept. */
export const TRANSACTION_RETENTION_MS = 30 * DAY_MS
/** How long operators' commands are kept. */
export const OPERATOR_ACTION_RETENTION_MS = 365 * DAY_MS
/** Number of generations whose journal is kept: the current generation, and the previous generation for comparison. */
export const RETAINED_GENERATIONS = 2
/** Maximum number of rows per statement, so that no statement holds a lock for long. */
const BATCH_ROWS = 1_000

/**
 * SQL: time at which the transaction began, by the database's clock, Unix ms. Rows expire by it. A comparison with it
 * can use an index. A comparison with `NOW_MS_SQL` can't, because `clock_timestamp()` is volatile.
 */
const TRANSACTION_BEGIN_MS_SQL = '(extract(epoch FROM now()) * 1000)::int8'
const KEPT_SINCE_MS_SQL = `${TRANSACTION_BEGIN_MS_SQL} - ${TRANSACTION_RETENTION_MS}`

/**
 * SQL condition on rows of `tracked_txs` whose transaction had no effect and was last seen long ago. A row with a
 * verdict or a replacement stays, since a final status never changes.
 */
const EXPIRED_SIGHTINGS_SQL = `network = $1 AND verdict IS NULL AND replaced_by IS NULL AND last_seen_ms <= ${KEPT_SINCE_MS_SQL}`
/** SQL condition on ended jobs whose signed bytes are deleted. The jobs themselves stay, so nothing is sent twice. */
const EXPIRED_BYTES_SQL = `network = $1 AND state = ${JOB_STATE.confirmed} AND updated_ms <= ${KEPT_SINCE_MS_SQL} AND jsonb_path_exists(txs, '$[*] ? (@.raw != "")')`
/** SQL condition on expired sessions. Sessions belong to no network, so `$1` has no effect. */
const EXPIRED_SESSIONS_SQL = `$1::int2 IS NOT NULL AND expires_ms <= ${TRANSACTION_BEGIN_MS_SQL}`

/** SQL condition on old commands. Commands belong to no network, so `$1` has no effect. */
const EXPIRED_ACTIONS_SQL = `$1::int2 IS NOT NULL AND began_ms <= ${TRANSACTION_BEGIN_MS_SQL} - ${OPERATOR_ACTION_RETENTION_MS}`

/** SQL condition on journal entries of generations before the retained ones. */
const EXPIRED_GENERATIONS_SQL = `network = $1 AND generation <= (SELECT generation - ${RETAINED_GENERATIONS} FROM journal_heads WHERE network = $1)`

/**
 * Statements that delete expired rows, by a description of the rows that is logged. Parameters: network code and limit.
 */
const deletionsOfExpiredRows = (network: Network): Record<string, string> => {
  const journal = partitionName('journal', network)
  return {
    'transactions that came to nothing': `DELETE FROM tracked_txs WHERE network = $1 AND hash = ANY (ARRAY(
      SELECT hash FROM tracked_txs WHERE ${EXPIRED_SIGHTINGS_SQL} ORDER BY last_seen_ms LIMIT $2))`,
    // keeps `isRejected`: after a rewind, a job that a node refused has to be signed again
    'signed bytes of ended jobs': `UPDATE jobs SET txs = (
        SELECT jsonb_agg(t || CASE WHEN t ? 'isRejected' THEN '{"raw": "", "isRejected": true}' ELSE '{"raw": ""}' END::jsonb ORDER BY i)
        FROM jsonb_array_elements(txs) WITH ORDINALITY AS e (t, i))
      WHERE ${EXPIRED_BYTES_SQL} AND id = ANY (ARRAY(SELECT id FROM jobs WHERE ${EXPIRED_BYTES_SQL} ORDER BY updated_ms LIMIT $2))`,
    'sessions that have expired': `DELETE FROM sessions WHERE key_hash = ANY (ARRAY(
      SELECT key_hash FROM sessions WHERE ${EXPIRED_SESSIONS_SQL} ORDER BY expires_ms LIMIT $2))`,
    'commands of operators': `DELETE FROM operator_actions WHERE id = ANY (ARRAY(
      SELECT id FROM operator_actions WHERE ${EXPIRED_ACTIONS_SQL} ORDER BY began_ms LIMIT $2))`,
    // no query reads entries of these generations any more
    'entries of generations that ended': `DELETE FROM ${journal} j USING (
        SELECT generation, seq FROM ${journal} WHERE ${EXPIRED_GENERATIONS_SQL} ORDER BY generation, seq LIMIT $2
      ) k WHERE j.network = $1 AND j.generation = k.generation AND j.seq = k.seq`,
    'events of SQL before those shown': `DELETE FROM feed_events e USING (
        SELECT generation, number FROM feed_events WHERE network = $1 AND generation < (
          SELECT coalesce(s.generation, h.feed_generation) FROM journal_heads h LEFT JOIN feed_shown s USING (network)
          WHERE h.network = $1
        ) ORDER BY generation, number LIMIT $2
      ) k WHERE e.network = $1 AND e.generation = k.generation AND e.number = k.number`,
  }
}

/**
 * Deletes expired rows, in small batches.
 * @param signal stops the work between two batches
 * @param alive called after each batch to report progress, since an ended generation may have millions of entries
 * @returns number of deleted rows by their description
 */
export async function removeExpiredRows(
  db: Queryable,
  network: Network,
  signal?: AbortSignal,
  alive = (): void => {},
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const [what, remove] of Object.entries(deletionsOfExpiredRows(network))) {
    let rows = 0
    for (let last = BATCH_ROWS; last === BATCH_ROWS && !signal?.aborted; rows += last) {
      last = await execute(db, network, remove, [BATCH_ROWS])
      alive()
    }
    counts[what] = rows
  }
  return counts
}

const REMOVAL_INTERVAL_MS = 60 * 60_000

/**
 * Creates a worker that deletes expired rows once an hour.
 * @param isSqlServed if false, the feed's copy for SQL readers is hidden
 */
export function createExpiredRowsWorker(
  { pool, network, log }: LeaderContext,
  isSqlServed: boolean,
): Worker {
  // time of the last deletion, by the monotonic clock: changes of the system clock do not move the schedule
  let doneAt: number | null = null
  return {
    name: 'the retention',
    fields: { network },
    pollMs: 60_000,
    async step(signal, alive) {
      if (doneAt !== null && performance.now() - doneAt < REMOVAL_INTERVAL_MS) return 'idle'
      if (!isSqlServed) await hideSqlFeedCopy(pool, network)
      const removed = await removeExpiredRows(pool, network, signal, alive)
      if (Object.values(removed).some((rows) => rows > 0))
        log.info({ network, removed }, 'forgot what has had its time')
      doneAt = performance.now()
      return 'idle'
    },
  }
}
