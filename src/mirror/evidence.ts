import type { LogReader } from '../client/transparencyLog.js'
import { storeMirroredEvidence } from '../db/feed/evidence.js'
import {
  deleteTransparencyLogs,
  readTiles,
  readTransparencyLogState,
  storePreviousTransparencyLog,
  storeTiles,
  writeTransparencyLogRow,
} from '../db/feed/transparencyLog.js'
import { assertIndexingLeader } from '../db/journal/head.js'
import { allowSourceWait } from '../db/mirror/writer.js'
import { inTransaction } from '../db/pg/pool.js'
import type { Worker } from '../ops/worker.js'
import type { LogPlace } from '../registry/primitives/network.js'
import { GrowingTree, partialTilesOf } from '../registry/transparencyLog/append.js'
import { generationInLogName } from '../registry/transparencyLog/beginning.js'
import { sha256TreeHasher } from '../registry/transparencyLog/hash.js'
import {
  isCheckpointStored,
  type MirrorWorkerOptions,
  mirrorRefusalError,
  parsePreviousLog,
  readNewestCheckpoint,
} from './worker.js'

const EVIDENCE_POLL_MS = 5_000

/**
 * Creates the worker that mirrors the evidence log of a source, once the feed's mirrored log is of the same generation.
 * A source of an earlier version has no evidence log.
 */
export function createEvidenceMirrorWorker({
  network,
  pool,
  epoch,
  reader,
}: Pick<MirrorWorkerOptions, 'network' | 'pool' | 'epoch'> & { reader: LogReader }): Worker {
  const place: LogPlace = `${network}/evidence`
  return {
    name: 'the mirror of evidence',
    fields: { network },
    pollMs: EVIDENCE_POLL_MS,
    async step(signal, alive) {
      const { log, previous, generation } = await readTransparencyLogState(pool, place)
      reader.last = log ?? previous
      const head = await readNewestCheckpoint(reader, reader.last === null, signal)
      if (!head || (log && isCheckpointStored(log, head))) return 'idle'
      const { origin, size, root, note } = head
      if (generationInLogName(origin, place) !== generation) return 'waiting'
      const known = log?.origin === origin ? log.size : 0
      const edge = await readTiles(pool, place, generation, partialTilesOf(known))
      const tree = new GrowingTree(sha256TreeHasher, { size: known, edge })
      await inTransaction(pool, async (db) => {
        await assertIndexingLeader(db, network, epoch)
        await allowSourceWait(db)
        if (known === 0) await deleteTransparencyLogs(db, place, generation)
        for await (const { from, texts, tiles } of reader.bundles(head, { signal, tree })) {
          alive()
          try {
            const [first] = texts
            const before = from === 0 ? parsePreviousLog(first!, head, place) : null
            if (before) await storePreviousTransparencyLog(db, place, before)
            await storeMirroredEvidence(db, network, generation, { from, texts })
          } catch (error) {
            throw mirrorRefusalError(error, `Entry ${from} of ${origin}`)
          }
          await storeTiles(db, place, generation, tiles)
        }
        const mirroredLog = {
          generation,
          origin,
          size,
          root: Buffer.from(root),
          note,
          server: null,
        }
        await writeTransparencyLogRow(db, place, mirroredLog)
      })
      return 'progressed'
    },
  }
}
