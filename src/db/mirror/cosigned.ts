import type pg from 'pg'
import type { Network } from '../../registry/primitives/network.js'
import { checkpointText, type TreeHead } from '../../registry/transparencyLog/note.js'
import { prepareSingleRow } from '../journal/partitions.js'
import { inTransaction } from '../pg/pool.js'
import { execute } from '../pg/rows.js'
import { lockMirrorHead } from './writer.js'

/** A checkpoint of a log, with its signed note. */
export interface CheckpointWithNote extends TreeHead {
  /** Null for a log whose service has no key to sign with. */
  note: string | null
}

/**
 * Timeout of a witness's wait for a lock that its mirror holds while it writes the log, ms. The witnessed service waits
 * 2,000 ms for a signature.
 */
const LOCK_LIMIT_MS = 1_000

/**
 * The newest checkpoint of a network's log that this mirror knows: that of its stored log, or a newer checkpoint that
 * the mirror has signed as a witness. Null before the mirror has stored any of the log.
 */
export const readNewestKnownCheckpoint = prepareSingleRow<
  CheckpointWithNote,
  []
>(`SELECT l.origin, coalesce(c.size, l.size) AS size, coalesce(c.root, l.root) AS root,
    coalesce(c.note, l.note) AS note
  FROM journal_heads h JOIN logs l ON l.network = h.network AND l.generation = h.feed_generation
    LEFT JOIN cosigned c ON c.network = l.network AND c.origin = l.origin AND c.size > l.size
  WHERE h.network = $1`)

const STORE_CHECKPOINT = `INSERT INTO cosigned (network, origin, size, root, note) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (network, origin) DO UPDATE SET size = $3, root = $4, note = $5`

/**
 * Stores a checkpoint that this mirror signs as a witness and that continues `before`, if `before` is still the newest
 * one. Meanwhile the mirror writes no log and signs nothing else.
 * @returns null if it is stored; else the newest checkpoint
 * @throws Error for which `isLockTimeoutError` is true, while the mirror writes the log
 */
export const storeWitnessedCheckpoint = (
  pool: pg.Pool,
  network: Network,
  before: TreeHead,
  { origin, size, root, note }: CheckpointWithNote,
): Promise<CheckpointWithNote | null> =>
  inTransaction(pool, async (client) => {
    await client.query(`SET LOCAL lock_timeout = ${LOCK_LIMIT_MS}`)
    await lockMirrorHead(client, network)
    // not null: a stored log is deleted only in the transaction that stores its successor
    const newest = (await readNewestKnownCheckpoint(client, network))!
    if (checkpointText(newest) !== checkpointText(before)) return newest
    await execute(client, network, STORE_CHECKPOINT, [origin, size, root, note])
    return null
  })
