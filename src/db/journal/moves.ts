import type { LeaderContext } from '../../ops/context.js'
import { IDLE_POLL_MS, type Worker } from '../../ops/worker.js'
import { entryOfChange } from '../../registry/journal/decode.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { notifyNetwork } from '../pg/notify.js'
import { inTransaction } from '../pg/pool.js'
import { appendEntries } from './append.js'
import { type LeaderScope, lockJournalHead } from './head.js'
import { prepareSingleValue } from './partitions.js'

/** Result of one `move_names` entry. */
interface NameMoveProgress {
  /** Id of the cluster that the names leave, hex. */
  clusterId: string
  /** Number of names that the entry moved. */
  names: number
  /** True if no name is left to move. */
  isLast: boolean
}

const readNextSource = prepareSingleValue<Buffer, []>(
  (l) => `SELECT c.id FROM ${l.moves} m
    JOIN ${l.clusters} c ON c.network = m.network AND c.serial = m.source
    WHERE m.network = ${l.network} ORDER BY m.seq LIMIT 1`,
)

/**
 * Moves the next names of the oldest pending move (src/registry/fold/moves.ts), in one short transaction.
 * @returns null where no move is pending, or the network is catching up
 * @throws LostLeadershipError
 */
export async function moveNextNames({
  pool,
  network,
  epoch,
}: LeaderScope): Promise<NameMoveProgress | null> {
  // checked without a lock first, since usually no move is pending
  if (!(await readNextSource(pool, network))) return null
  return inTransaction(pool, async (client) => {
    const head = await lockJournalHead(client, network, epoch)
    const source = head.caughtUp ? await readNextSource(client, network) : null
    if (!source) return null
    const move = { kind: 'move_names', clusterId: source } as const
    const entry = entryOfChange(move, Number.POSITIVE_INFINITY)
    const { changes } = await appendEntries(client, network, [entry], { epoch })
    await notifyNetwork(client, network)
    const { nameMoves, movesEnded } = changes
    return { clusterId: toHex(source), names: nameMoves.length, isLast: movesEnded.length > 0 }
  })
}

/**
 * Pause between two `move_names` entries, in which other writers get the lock of the journal's head. With at most a
 * thousand names an entry, at most 10,000 names move in a second.
 */
const MOVE_PAUSE_MS = 100

/**
 * Creates a worker that continues moves of names between clusters, one `move_names` entry a step. After a change of
 * leadership the next leader continues.
 */
export function createNameMoveWorker({ pool, network, epoch, log }: LeaderContext): Worker {
  return {
    name: 'the moves of names',
    fields: { network },
    pollMs: MOVE_PAUSE_MS,
    idleMs: IDLE_POLL_MS,
    maxBusySteps: 0,
    async step() {
      const moved = await moveNextNames({ pool, network, epoch })
      if (moved === null) return 'idle'
      if (moved.isLast)
        log.info({ network, clusterId: moved.clusterId }, 'the last names of a cluster have moved')
      return 'progressed'
    },
  }
}
