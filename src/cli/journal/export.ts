import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { writeFileAtomically } from '../../config/files.js'
import { readTiles, readTransparencyLogState } from '../../db/feed/transparencyLog.js'
import { type NetworkTransparencyLog, readEntryBundle } from '../../push/leaves.js'
import type { LogPlace } from '../../registry/primitives/network.js'
import { sha256TreeHasher } from '../../registry/transparencyLog/hash.js'
import { parseCheckpoint, parseNote, type TreeHead } from '../../registry/transparencyLog/note.js'
import {
  bundlePath,
  rangeHashFromTiles,
  TILE_WIDTH,
  type Tile,
  tileAt,
  tileCountsOfLevel,
  tileKey,
  tilePath,
  tilesForRanges,
} from '../../registry/transparencyLog/tiles.js'
import {
  consistencyProofRanges,
  isConsistencyProofValid,
} from '../../registry/transparencyLog/tree.js'
import { withDatabasePool } from '../database.js'
import { printJson } from '../output.js'
import { type NetworkOptions, networksOfOptions } from '../values.js'

/** An exported log. `network` is the log's place: `mainnet` for the feed, `mainnet/evidence` for the evidence. */
interface ExportedLog {
  network: LogPlace
  origin: string
  /** Number of entries of the log. */
  size: number
}

/**
 * `clusterd journal export`: writes the signed logs of each network to a folder, in the layout of the logs' URLs (C2SP
 * tlog-tiles). The daemon may run meanwhile. An earlier export is extended: of its files only the checkpoints change.
 * @throws Error where no log is signed, the folder has an export of another history, or the log restarts meanwhile
 */
export async function exportTransparencyLog(
  options: NetworkOptions & { out: string; json?: boolean },
): Promise<void> {
  const { out, json } = options
  const written = await withDatabasePool(async (pool) => {
    const logs: ExportedLog[] = []
    for (const network of networksOfOptions(options)) {
      for (const place of [network, `${network}/evidence`] as const) {
        const exported = await exportLog(pool, place, join(out, place))
        if (exported) logs.push(exported)
      }
    }
    return logs
  })
  if (written.length === 0)
    throw new Error('No key signs a log here: set LOG_KEY, and wait for the first catch-up.')
  if (json) return printJson({ folder: out, networks: written })
  for (const { origin, size } of written) console.log(`${origin}: ${size} entries`)
}

async function exportLog(
  pool: pg.Pool,
  network: LogPlace,
  folder: string,
): Promise<ExportedLog | null> {
  const { log } = await readTransparencyLogState(pool, network)
  if (!log?.note) return null
  const { origin, size, note, generation } = log
  const ofLog = { network, generation, origin }
  const generationFolder = join(folder, String(generation))
  await assertLogContinuesExport(
    pool,
    { ...ofLog, size, root: log.root },
    join(generationFolder, 'checkpoint'),
  )
  for (const tile of tilesOf(size)) {
    const isLowest = tile.level === 0
    await writeFileOnce(join(generationFolder, tilePath(tile)), () => readTile(pool, ofLog, tile))
    if (isLowest)
      await writeFileOnce(join(generationFolder, bundlePath(tile)), () =>
        readEntryBundle(pool, ofLog, tile),
      )
  }
  // the checkpoint is written last, after all files that it refers to
  writeFileAtomically(join(generationFolder, 'checkpoint'), note)
  writeFileAtomically(join(folder, 'checkpoint'), note)
  return { network, origin, size }
}

/**
 * Checks that a log continues the checkpoint in `file`, which an earlier export wrote. At the first export there is no
 * such file, and nothing to check.
 * @throws Error where the log does not continue it
 */
async function assertLogContinuesExport(
  pool: pg.Pool,
  log: NetworkTransparencyLog & TreeHead,
  file: string,
): Promise<void> {
  if (!existsSync(file)) return
  const before = parseCheckpoint(parseNote(await readFile(file, 'utf8'))?.text ?? '')
  const size = Math.max(before?.size ?? 0, log.size)
  const ranges = before?.size ? consistencyProofRanges(before.size, size) : []
  const tiles = await readTiles(pool, log.network, log.generation, tilesForRanges(ranges, log.size))
  const proof = ranges.map((range) => rangeHashFromTiles(sha256TreeHasher, range, tiles))
  if (
    before?.origin !== log.origin ||
    !isConsistencyProofValid(sha256TreeHasher, before, log, proof)
  )
    throw new Error(
      `${file} is of another history than the log ${log.origin}: export to another folder.`,
    )
}

/** Every tile of a Merkle tree with `size` entries. */
function* tilesOf(size: number): Generator<Tile> {
  for (let level = 0; size >= TILE_WIDTH ** level; level++) {
    const { full, partial } = tileCountsOfLevel(level, size)
    const count = full + (partial > 0 ? 1 : 0)
    for (let index = 0; index < count; index++) yield tileAt(size, level, index)!
  }
}

const readTile = async (
  pool: pg.Pool,
  { network, generation }: NetworkTransparencyLog,
  tile: Tile,
) => (await readTiles(pool, network, generation, [tile])).get(tileKey(tile)) ?? null

/** Writes a file unless it exists: a tile or bundle of the same path always has the same content. */
async function writeFileOnce(file: string, read: () => Promise<Uint8Array | null>): Promise<void> {
  if (existsSync(file)) return
  const bytes = await read()
  if (!bytes) throw new Error('The log began anew meanwhile: export again.')
  writeFileAtomically(file, bytes)
}
