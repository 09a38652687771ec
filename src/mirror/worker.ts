import type pg from 'pg'
import { ClusterdError, logMismatchError } from '../client/error.js'
import type { LogReader, SignedHead } from '../client/transparencyLog.js'
import {
  readTiles,
  readTransparencyLogState,
  type StoredTransparencyLog,
} from '../db/feed/transparencyLog.js'
import { readNewestKnownCheckpoint } from '../db/mirror/cosigned.js'
import { markMirrorVerified, revertMirrorBegun } from '../db/mirror/mirrors.js'
import { MirrorWriter } from '../db/mirror/writer.js'
import { inTransaction } from '../db/pg/pool.js'
import { isRefusedValueError, isUniqueViolation } from '../db/pg/unavailable.js'
import { BackgroundWork } from '../ops/background.js'
import { failpoint } from '../ops/failpoint.js'
import type { Worker } from '../ops/worker.js'
import type { LogPlace, Network } from '../registry/primitives/network.js'
import { GrowingTree, partialTilesOf } from '../registry/transparencyLog/append.js'
import { generationInLogName, readBeginningLeaf } from '../registry/transparencyLog/beginning.js'
import { sha256TreeHasher } from '../registry/transparencyLog/hash.js'
import { type LeafEvent, parseEventLeaf } from '../registry/transparencyLog/leafReader.js'
import { addCosignatures, type Cosigner } from '../registry/transparencyLog/signer.js'

/** Name of the worker in the log and in `/status`. */
const MIRROR_WORKER_NAME = 'the mirror'
/** Interval at which the source's checkpoint is requested, ms. */
const CHECKPOINT_POLL_MS = 500
/**
 * Time after this worker's start for which an expected log (`isExpected`) may be missing at the source, ms, because the
 * source may just have started.
 */
const MISSING_LOG_GRACE_MS = 60_000
/** Interval at which the time of the newest verification is stored while the checkpoint is unchanged, ms. */
const VERIFICATION_RECORD_INTERVAL_MS = 2_000
/**
 * Interval at which a checkpoint is stored that differs from the stored one only in signatures, ms. It bounds the
 * writes, because strangers may add signatures.
 */
const SIGNATURE_STORE_INTERVAL_MS = 60_000

export interface MirrorWorkerOptions {
  network: Network
  pool: pg.Pool
  /** Epoch of the leader that writes. */
  epoch: number
  reader: LogReader
  /** False where the source need not have a log of the network. */
  isExpected: boolean
  /** Signs the mirrored checkpoints as a witness. */
  cosigner?: Cosigner | undefined
}

/**
 * Creates the worker that mirrors the transparency log of a source. Each step writes everything that the log's newest
 * checkpoint proves, in one transaction. If anything is wrong, the step writes nothing.
 */
export function createMirrorWorker(options: MirrorWorkerOptions): Worker {
  const { network, pool, epoch, reader, isExpected, cosigner } = options
  const startedMs = performance.now()
  let mirroredMs = startedMs
  let recordedMs = Number.NEGATIVE_INFINITY
  return {
    name: MIRROR_WORKER_NAME,
    fields: { network },
    pollMs: CHECKPOINT_POLL_MS,
    async step(signal, alive) {
      const { log } = await readTransparencyLogState(pool, network)
      reader.last = log
      const mayBegin = !isExpected || performance.now() - startedMs < MISSING_LOG_GRACE_MS
      const mayWait = log === null && mayBegin
      const head = await readNewestCheckpoint(reader, mayWait, signal)
      if (head === null) {
        if (!isExpected) await revertMirrorBegun(pool, network)
        return 'idle'
      }
      const nowMs = performance.now()
      const isNoteFresh =
        isNoteUpToDate(log?.note, head.note, cosigner) ||
        nowMs - mirroredMs < SIGNATURE_STORE_INTERVAL_MS
      if (log && isCheckpointStored(log, head) && isNoteFresh) {
        if (nowMs - recordedMs < VERIFICATION_RECORD_INTERVAL_MS) return 'idle'
        await markMirrorVerified(pool, network, epoch)
        recordedMs = nowMs
        return 'idle'
      }
      await mirrorCheckpoint(options, { stored: log, head, signal, alive })
      mirroredMs = nowMs
      return 'progressed'
    },
  }
}

/**
 * True if the stored note begins with the checkpoint's text and first signature line, which is of the pinned key. Later
 * lines are ignored, since anybody can add signatures.
 */
export function isCheckpointStored(log: StoredTransparencyLog, { note }: SignedHead): boolean {
  const endOfSigned = note.indexOf('\n', note.indexOf('\n\n') + 2)
  return log.note?.startsWith(note.slice(0, endOfSigned + 1)) ?? false
}

/**
 * True if the stored note equals the source's note. With a cosigner, the stored note also has to have lines of this
 * witness. Its lines are not compared, because they have the time of their signing.
 */
function isNoteUpToDate(
  stored: string | null | undefined,
  note: string,
  cosigner: Cosigner | undefined,
): boolean {
  if (!stored || !cosigner) return stored === note
  const signaturePrefix = `— ${cosigner.name} `
  const withoutOwn = (one: string) =>
    one
      .split('\n')
      .filter((line) => !line.startsWith(signaturePrefix))
      .join('\n')
  return stored.includes(`\n${signaturePrefix}`) && withoutOwn(stored) === withoutOwn(note)
}

/**
 * Reads the source's newest checkpoint, and verifies it. Null if `mayWait` and the source has no log of the network
 * yet.
 */
export async function readNewestCheckpoint(
  reader: LogReader,
  mayWait: boolean,
  signal: AbortSignal,
): Promise<SignedHead | null> {
  try {
    return await reader.checkpoint(signal)
  } catch (error) {
    const isMissing = error instanceof ClusterdError && error.status === 404
    if (isMissing && mayWait) return null
    throw error
  }
}

interface MirrorStep {
  stored: StoredTransparencyLog | null
  head: SignedHead
  signal: AbortSignal
  alive(): void
}

/**
 * Copies the log up to a verified checkpoint, in one transaction: the leaves after the stored log (all leaves of a new
 * log), the tiles and the checkpoint. A witness adds its signature, unless it has already signed a larger checkpoint of
 * this log.
 */
async function mirrorCheckpoint(
  { network, pool, epoch, reader, cosigner }: MirrorWorkerOptions,
  { stored, head, signal, alive }: MirrorStep,
): Promise<void> {
  const { origin, size, note } = head
  const generation = generationInLogName(origin, network)!
  const known = stored?.origin === origin ? stored.size : 0
  const edge = await readTiles(pool, network, generation, partialTilesOf(known))
  const tree = new GrowingTree(sha256TreeHasher, { size: known, edge })
  const background = new BackgroundWork()
  await inTransaction(pool, async (client) => {
    const writer = await MirrorWriter.open(
      client,
      { network, epoch },
      { stored, next: { generation, origin } },
    )
    if (!writer) return
    const signed = await readNewestKnownCheckpoint(client, network)
    // a log requests signatures of witnesses before it publishes a checkpoint. Until then the published checkpoint is
    // older than the checkpoint that this mirror has signed
    const isOlder = signed?.origin === origin && size < signed.size
    if (signed && stored && signed.size > stored.size && !isOlder) {
      // the source has to continue the checkpoint that this mirror has signed as a witness
      reader.last = signed
      await reader.take(head.note, signal)
    }
    try {
      for await (const { from, texts, tiles } of reader.bundles(head, { signal, tree })) {
        writer.addTiles(tiles)
        alive()
        let index = from
        try {
          const events: LeafEvent[] = []
          for (const text of texts) {
            if (index > 0) events.push(parseEventLeaf(text, index))
            else await writer.storePreviousLog(parsePreviousLog(text, head, network))
            index += 1
          }
          await writer.addEvents(events)
          await background.pause(signal)
        } catch (error) {
          throw mirrorRefusalError(error, `Entry ${index} of ${origin}`)
        }
      }
      const log = { generation, origin, size, root: Buffer.from(head.root), server: null }
      const signedNote = cosigner && !isOlder ? addCosignatures(note, cosigner) : note
      await writer.end({ ...log, note: signedNote }).catch((error: unknown) => {
        throw mirrorRefusalError(error, `The log ${origin}`)
      })
    } finally {
      await writer.waitForWrites()
    }
    failpoint('mirror.taken')
  })
  failpoint('mirror.committed')
}

/**
 * The earlier log that a log continues, from the text of the log's first leaf. Null for a log that continues no other.
 * @throws RangeError for a leaf that names no earlier log of the network
 */
export function parsePreviousLog(text: string, { origin }: SignedHead, network: LogPlace) {
  const previous = readBeginningLeaf(text, origin)
  const generation = previous && generationInLogName(previous.origin, network)
  if (previous === null) return null
  if (generation === null || generation >= generationInLogName(origin, network)!)
    throw new RangeError(`it names ${previous.origin} as the log before`)
  return {
    generation,
    origin: previous.origin,
    size: previous.size,
    root: Buffer.from(previous.root),
  }
}

/**
 * Converts an error that an entry's content caused to a `log_mismatch` error, which names the entry by `what`. Returns
 * any other error as it is.
 */
export function mirrorRefusalError(error: unknown, what: string): unknown {
  if (error instanceof RangeError)
    return logMismatchError(`${what} is refused: ${error.message}.`, error)
  if (!isRefusedValueError(error)) return error
  const why = isUniqueViolation(error) ? 'it has something twice' : error.message
  return logMismatchError(`${what}, or one before it, is refused: ${why}.`, error)
}
