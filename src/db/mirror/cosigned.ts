import type pg from 'pg'
import type { Network } from '../../registry/primitives/network.js'
import { checkpointText, type TreeHead } from '../../registry/transparencyLog/note.js'
import { prepareSingleRow } from '../journal/partitions.js'
import { inTransaction } from '../pg/pool.js'
import { execute } from '../pg/rows.js'
import { lockMirrorHead } from './writer.js'

/** A checkpoint of a log, with the note that signs it. */
export interface CheckpointWithNote extends TreeHead {
  /** Null for a log whose service has no key to sign with. */
  note: string | null
}

/**
 * How long a request for a witness's signature waits for the head's lock, which the mirror holds while it writes the
 * log, ms. The service that asks waits 2,000 ms for a signature.
 */
const LOCK_LIMIT_MS = 1_000

/**
 * The newest checkpoint of a network's log that this mirror knows: the checkpoint of its stored log, or a newer one
 * that the mirror has signed as a witness. Null before the mirror has stored any of the log.
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
 * Stores a checkpoint that this mirror signs as a witness, if `before`, which it continues, is still the newest known
 * checkpoint. It holds the head's lock, so the mirror writes no log and stores no other checkpoint meanwhile.
 * @returns null if the checkpoint is stored; otherwise the newest known checkpoint
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
