import type { OperatorAction } from '../generated/client.js'
import { type DecodedRow, type Queryable, readRows } from '../pg/rows.js'
import { NOW_MS_SQL } from '../pg/unavailable.js'

export type StoredOperatorAction = DecodedRow<OperatorAction>

/** A command that is running or has ended. */
export interface RecordedCommand extends Pick<StoredOperatorAction, 'id' | 'osUser' | 'command'> {
  /** Time since the command began, ms. */
  ms: number
  /** Null while the command is running. */
  outcome: string | null
}

/**
 * Inserts the row of a command when it begins, and completes the row when the command has ended. If the first write
 * failed, the second inserts the row. Times are by the database's clock.
 */
export async function writeOperatorAction(db: Queryable, action: RecordedCommand): Promise<void> {
  const { id, ms, osUser, command, outcome } = action
  const text = `INSERT INTO operator_actions (id, began_ms, os_user, role, command, outcome, ended_ms)
    VALUES ($1, ${NOW_MS_SQL} - $2, $3, session_user, $4, $5, CASE WHEN $5::text IS NOT NULL THEN ${NOW_MS_SQL} END)
    ON CONFLICT (id) DO UPDATE SET outcome = excluded.outcome, ended_ms = excluded.ended_ms`
  await readRows(db, text, [id, ms, osUser, command, outcome])
}

/** Commands of operators, newest first. */
export function listOperatorActions(db: Queryable, limit: number): Promise<StoredOperatorAction[]> {
  const text =
    'SELECT id, began_ms, ended_ms, os_user, role, command, outcome FROM operator_actions ORDER BY began_ms DESC, id LIMIT $1'
  return readRows<StoredOperatorAction>(db, text, [limit])
}
