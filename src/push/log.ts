import { readFollowedLog, readTiles, type StoredLog, writeLog } from '../db/journal/log.js'
import type { LeaderContext } from '../ops/context.js'
import { createNotify, type Notify } from '../ops/notify.js'
import type { Worker } from '../ops/worker.js'
import { appendLeaves, edgeOf } from '../registry/log/append.js'
import { beginningLeaf } from '../registry/log/beginning.js'
import { treeHash } from '../registry/log/hash.js'
import { leafWriter } from '../registry/log/leaf.js'
import { isSignedBy, type LogKeys, originOf, signedNote } from '../registry/log/signer.js'
import { rootOf, type TileHashes } from '../registry/log/tiles.js'
import { isSameHash } from '../registry/log/tree.js'
import { readItems } from './feedReader.js'

/** Entries of a step: some ten ms of work. */
const ENTRIES_AT_ONCE = 256
/** Pause after two steps, so catching up leaves the indexer most of its time: 5,000 entries a second. */
const PAUSE_MS = 100
const IDLE_MS = 1_000

export interface LogOptions {
  /** Name of the service in the origins of logs that begin. */
  domain: string
  /** Keys that sign: none leaves checkpoints unsigned. */
  keys: LogKeys
  notify?: Notify
}

/**
 * Keeps the transparency log of a network's feed (C2SP tlog-tiles): appends events behind its end and signs a
 * checkpoint, in steps, after the first catch-up of the hub.
 */
export function logWorker(
  ctx: Pick<LeaderContext, 'network' | 'pool' | 'epoch'>,
  { domain, keys, notify = createNotify() }: LogOptions,
): Worker {
  const { pool, network } = ctx
  /** Log that this process has signed last. */
  let signed: StoredLog | null = null
  return {
    name: 'the log of the feed',
    fields: { network },
    pollMs: PAUSE_MS,
    idleMs: IDLE_MS,
    notify,
    maxBusySteps: 1,
    async step() {
      const { generation, newest, isCaughtUp, log, previous } = await readFollowedLog(pool, network)
      if (!isCaughtUp) return 'idle'
      const isBehind = !log || log.size <= newest
      if (!isBehind && isSignedBy(log, keys)) return 'idle'
      const origin = log?.origin ?? originOf(domain, network, generation)
      const first = Math.max(1, log?.size ?? 0)
      const found = await readItems(pool, network, { first, limit: ENTRIES_AT_ONCE })
      // a rewind came between: the next step finds its generation
      if (found?.generation !== generation) return 'progressed'
      const leaves = found.items.map(leafWriter(found.idOf))
      if (!log) leaves.unshift(beginningLeaf(origin, previous))
      const size = log?.size ?? 0
      const edge = await readTiles(pool, network, generation, edgeOf(size))
      if (log) assertOwn(log, signed, edge)
      assertGapless(found.items, first)
      const hashes = leaves.map((leaf) => treeHash.leaf(Buffer.from(leaf)))
      const grown = appendLeaves(treeHash, { size, edge }, hashes)
      const head = { origin, size: grown.size, root: Buffer.from(grown.root) }
      const next: StoredLog = { ...head, generation, note: signedNote(head, keys) }
      await writeLog(ctx, next, { size, tiles: grown.tiles })
      signed = next
      return 'progressed'
    },
  }
}

/**
 * Checks that a log goes on from what was signed: nothing else may be signed under its name.
 * @param signed log that this process has signed last
 * @throws Error where the database has lost a part of the log, or has other tiles
 */
function assertOwn(log: StoredLog, signed: StoredLog | null, edge: TileHashes): void {
  const { origin, size, root } = log
  if (signed?.origin === origin && (signed.size !== size || !isSameHash(signed.root, root)))
    throw new Error(
      `the log ${origin} ends at entry ${size}, and ${signed.size} were signed: the database went back; run \`clusterd journal restored --yes\``,
    )
  if (!isSameHash(rootOf(treeHash, size, edge), root))
    throw new Error(
      `the tiles of the log ${origin} do not make its root: restore the table log_tiles, or begin a new generation by \`clusterd journal restored --yes\``,
    )
}

/** @throws Error for events that are not numbered one by one */
function assertGapless(items: readonly { number: number }[], first: number): void {
  const wrong = items.find(({ number }, i) => number !== first + i)
  if (wrong) throw new Error(`the journal has event ${wrong.number} where ${first} and on follow`)
}
