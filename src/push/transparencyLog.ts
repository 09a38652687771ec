import { resetFeedOnceAfterRestore } from '../db/deployment/restored.js'
import { publishEvidence } from '../db/feed/evidence.js'
import {
  readDatabaseIdentity,
  readTiles,
  readTransparencyLogState,
  type StoredTransparencyLog,
  type TransparencyLogState,
  writeTransparencyLog,
} from '../db/feed/transparencyLog.js'
import type { ProblemWithAlarm } from '../ops/alarms.js'
import type { LeaderContext } from '../ops/context.js'
import { createLoopWaker, type LoopWaker, pauseUntilSignal } from '../ops/waiting.js'
import { IDLE_POLL_MS, type Worker } from '../ops/worker.js'
import type { LogPlace, Network } from '../registry/primitives/network.js'
import { type FilledTile, GrowingTree, partialTilesOf } from '../registry/transparencyLog/append.js'
import { beginningLeaf } from '../registry/transparencyLog/beginning.js'
import { sha256TreeHasher } from '../registry/transparencyLog/hash.js'
import { formatSignedNote, parseNote } from '../registry/transparencyLog/note.js'
import {
  isLogSignedBy,
  type LogKeys,
  logOrigin,
  signCheckpoint,
} from '../registry/transparencyLog/signer.js'
import { rangeHashFromTiles, tileKey, tilesForRanges } from '../registry/transparencyLog/tiles.js'
import { consistencyProofRanges, isSameHash } from '../registry/transparencyLog/tree.js'
import { readNextLeaves } from './leaves.js'
import type { Witness } from './witnesses.js'

/**
 * Pause after every two steps, ms, so that a catch-up of the transparency log leaves most of the process's time to the
 * indexer. The log then grows by about 5,000 entries a second.
 */
const PAUSE_MS = 100
/**
 * Time after a change before the log reads it, ms, so that look-ups of the change are answered first and the log reads
 * several changes in one step.
 */
const READ_DELAY_MS = 25
/**
 * Interval at which new evidence is searched, ms. It may be long, because evidence is published minutes after it was
 * taken.
 */
const EVIDENCE_POLL_MS = 5_000

/**
 * The newest signed log that this process wrote, or took over from an earlier leader. It is kept in memory while
 * another process leads the network.
 */
export class LastSignedTransparencyLog {
  #log: StoredTransparencyLog | null = null
  #epoch = 0

  /**
   * Remembers a log. Called before the log is written to the database, because a write that fails may have been
   * published nevertheless.
   */
  remember(log: StoredTransparencyLog, epoch: number): void {
    this.#log = log
    this.#epoch = epoch
  }

  /**
   * The remembered log. Null if there is none, if it is of another generation, or if another process may have signed
   * since.
   * @param epoch number of the current leadership. If it directly follows the last leadership that this process knows
   * of, no other process has signed
   */
  lastSigned(generation: number, epoch: number): StoredTransparencyLog | null {
    if (this.#log?.generation !== generation || epoch > this.#epoch + 1) return null
    this.#epoch = epoch
    return this.#log
  }
}

export interface TransparencyLogWorkerOptions {
  /** Domain of the service, with which the names of new logs begin. */
  domain: string
  /** Signing keys; without a key checkpoints are not signed. */
  keys: LogKeys
  /** Witnesses whose signatures are served with the newest checkpoint. */
  witnesses?: readonly Witness[]
  notify?: LoopWaker
  memory?: LastSignedTransparencyLog
  /** True for the evidence log. Default: the log of the feed. */
  isEvidence?: boolean
  /** Called when the feed restarts with a new generation, because signed events may have been lost. */
  onWentBack?(): void
}

/** Time after which events that are not in the signed log, and a witness that does not sign, raise an alarm, ms. */
const ALARM_AFTER_MS = 60_000

/**
 * Maintains the transparency log of a network's feed, or of its evidence (C2SP tlog-tiles), after the first catch-up of
 * the hub. Each step appends new entries and signs a checkpoint. If events that were signed may be lost, the feed
 * restarts with a new generation, so that two histories are never signed under one log's name.
 */
export function createTransparencyLogWorker(
  ctx: Pick<LeaderContext, 'network' | 'pool' | 'epoch'>,
  options: TransparencyLogWorkerOptions,
): Worker {
  const { pool, network, epoch } = ctx
  const { keys, witnesses = [], notify = createLoopWaker(), isEvidence } = options
  const { memory = new LastSignedTransparencyLog() } = options
  const place: LogPlace = isEvidence ? `${network}/evidence` : network
  const what = isEvidence ? `evidence of ${network}` : network
  /** Number of entries that are not in the log yet. */
  let behind = 0
  /** Last time at which the log had all entries, by `performance.now()`. */
  let levelMs = performance.now()
  return {
    name: isEvidence ? 'the log of evidence' : 'the log of the feed',
    fields: { network },
    pollMs: PAUSE_MS,
    idleMs: isEvidence ? EVIDENCE_POLL_MS : IDLE_POLL_MS,
    notify,
    maxBusySteps: 1,
    check() {
      if (behind === 0) levelMs = performance.now()
    },
    alarms() {
      const isLate = (sinceMs: number) => performance.now() - sinceMs >= ALARM_AFTER_MS
      const alarms: ProblemWithAlarm[] = []
      if (behind > 0 && isLate(levelMs))
        alarms.push({
          alarm: 'ClusterdLogBehind',
          text: `the signed log of ${what} is ${behind} entries behind`,
          network,
          ...(isEvidence && { subject: 'evidence' }),
        })
      for (const { name, failing } of witnesses)
        if (failing && isLate(failing.sinceMs))
          alarms.push({
            alarm: 'ClusterdWitnessAway',
            text: `the witness ${name} does not sign the log of ${network}: ${failing.why}`,
            network,
            subject: name,
          })
      return alarms
    },
    async step(signal) {
      if (behind === 0) await pauseUntilSignal(READ_DELAY_MS, signal)
      // the log is read before the identity: after a fail-over between the two reads, `log.server` is not the identity
      const now = await readTransparencyLogState(pool, place)
      const server = await readDatabaseIdentity(pool)
      const { generation, isCaughtUp, log } = now
      if (!isCaughtUp) return 'idle'
      const domain = log || !isEvidence ? options.domain : await domainOfFeed(pool, network)
      if (domain === undefined) return 'idle'
      if (isEvidence) await publishEvidence(ctx, generation)
      const current = isEvidence ? await readTransparencyLogState(pool, place) : now
      const { newest } = current
      behind = newest + 1 - (log?.size ?? 0)
      const isOfThisDatabase = !log || log.server === server
      const signed = memory.lastSigned(generation, epoch)
      const beginAnew = async () => {
        await resetFeedOnceAfterRestore(pool, network, generation, epoch)
        options.onWentBack?.()
        return 'idle' as const
      }
      const mayGoOn = signed
        ? canGrowToSigned(signed, log, newest)
        : isOfThisDatabase || hasNoSigningDatabase(log)
      if (!mayGoOn) return beginAnew()
      if (log?.note && keys.length === 0) {
        if (behind === 0) return 'idle'
        throw new Error(
          `no key signs the log ${log.origin} further: set LOG_KEY in this process, or begin a log without signatures by \`clusterd journal restored --yes\``,
        )
      }
      const isSigned = log && behind === 0 && isOfThisDatabase && isLogSignedBy(log, keys)
      // a checkpoint that another process signed is remembered, so that a promoted standby can continue it
      if (isSigned && !signed) memory.remember(log, epoch)
      if (isSigned && !witnesses.some(({ isDue }) => isDue(log.note))) return 'idle'
      const grown = await growLog(pool, place, { ...current, server, signed }, { domain, keys })
      // a rewind happened meanwhile: the next step uses the new generation
      if (grown === 'rewound') return 'progressed'
      if (grown === 'forked') return beginAnew()
      memory.remember(grown.log, epoch)
      // witnesses sign only the newest checkpoint, so that no catch-up waits for witnesses
      if (grown.log.size > newest)
        grown.log.note = await addWitnessSignatures(pool, place, grown, { log, witnesses, signal })
      await writeTransparencyLog({ ...ctx, network: place }, grown.log, {
        size: log?.size ?? 0,
        tiles: grown.tiles,
      })
      behind = newest + 1 - grown.log.size
      return 'progressed'
    },
  }
}

/**
 * Domain in the name of the feed's log, which the name of the evidence log shares. Undefined before the feed's log
 * begins.
 */
async function domainOfFeed(
  pool: LeaderContext['pool'],
  network: Network,
): Promise<string | undefined> {
  const { log, generation } = await readTransparencyLogState(pool, network)
  return log?.origin.slice(0, -logOrigin('', network, generation).length)
}

/**
 * Appends the next events, or pieces of evidence, to a log, and signs a checkpoint of the longer log.
 * @param signed the log that was signed last, which the new log has to continue; null where it is not known
 * @returns the log with the new entries; `rewound` where its generation has ended; `forked` where signed events were
 * replaced by other events
 * @throws Error where tiles or events are missing, or the stored tiles do not make the log's root
 */
async function growLog(
  pool: LeaderContext['pool'],
  place: LogPlace,
  { generation, log, previous, server, signed }: TransparencyLogState & SigningContext,
  { domain, keys }: Pick<TransparencyLogWorkerOptions, 'domain' | 'keys'>,
): Promise<{ log: StoredTransparencyLog; tiles: FilledTile[] } | 'rewound' | 'forked'> {
  const origin = log?.origin ?? logOrigin(domain, place, generation)
  const size = log?.size ?? 0
  const first = Math.max(1, size)
  const leaves = await readNextLeaves(pool, place, generation, first)
  if (!leaves) return 'rewound'
  if (!log) leaves.unshift(beginningLeaf(origin, previous))
  const edge = await readTiles(pool, place, generation, partialTilesOf(size))
  const tree = new GrowingTree(sha256TreeHasher, { size, edge })
  if (log) assertRoot(log, tree.root)
  const hashes = leaves.map((leaf) => sha256TreeHasher.leaf(Buffer.from(leaf)))
  if (signed) {
    const until = new GrowingTree(sha256TreeHasher, { size, edge })
    until.append(hashes.slice(0, signed.size - size))
    if (!isSameHash(until.root, signed.root)) return 'forked'
  }
  const tiles = tree.append(hashes)
  const head = { origin, size: tree.size, root: Buffer.from(tree.root) }
  const note = signCheckpoint(head, keys)
  return { log: { ...head, generation, note, server }, tiles }
}

/**
 * Returns a log's new checkpoint with the signatures of witnesses appended. Null if the service did not sign it.
 * @param of.log the stored log. If it has the same size as the new log, its witness signatures are reused
 */
async function addWitnessSignatures(
  pool: LeaderContext['pool'],
  place: LogPlace,
  { log: { note, generation, size }, tiles }: { log: StoredTransparencyLog; tiles: FilledTile[] },
  of: { log: StoredTransparencyLog | null; witnesses: readonly Witness[]; signal: AbortSignal },
): Promise<string | null> {
  if (note === null) return null
  const proofFrom = async (old: number) => {
    const ranges = consistencyProofRanges(old, size)
    const stored = await readTiles(pool, place, generation, tilesForRanges(ranges, size))
    const newTiles = tiles.map((tile) => [tileKey(tile), tile.hashes] as const)
    const known = new Map([...stored, ...newTiles])
    return ranges.map((range) => rangeHashFromTiles(sha256TreeHasher, range, known))
  }
  const before = of.log?.size === size ? of.log.note : null
  const lines = await Promise.all(
    of.witnesses.map((one) => one.signatureIn(before) ?? one.ask(note, proofFrom, of.signal)),
  )
  const { text, signatures } = parseNote(note)!
  return formatSignedNote({ text, signatures: [...signatures, ...lines.filter((line) => !!line)] })
}

/** Inputs of the next signature, besides the stored logs. */
interface SigningContext {
  /** Identity of the database that is read. */
  server: string
  /** Log that was signed last, which the new log must continue. Null where none is known. */
  signed: StoredTransparencyLog | null
}

/** True if a stored log equals the signed log, or the existing events or evidence suffice to grow it to that size. */
function canGrowToSigned(
  signed: StoredTransparencyLog,
  log: StoredTransparencyLog | null,
  newest: number,
): boolean {
  const size = log?.size ?? 0
  if (size === signed.size) return isSameHash(log!.root, signed.root)
  return size < signed.size && signed.size <= newest + 1
}

/**
 * True if a stored log does not say in which database it was signed: it has no signature, or a mirror or a version
 * without database identities stored it.
 */
const hasNoSigningDatabase = ({ note, server }: StoredTransparencyLog): boolean =>
  note === null || server === null

/** Checks that the stored tiles of a log make its signed root. @throws Error for a different root */
function assertRoot({ origin, root }: StoredTransparencyLog, ofTiles: Uint8Array): void {
  if (!isSameHash(ofTiles, root))
    throw new Error(
      `the tiles of the log ${origin} do not make its root: restore the table log_tiles, or begin a new generation by \`clusterd journal restored --yes\``,
    )
}
