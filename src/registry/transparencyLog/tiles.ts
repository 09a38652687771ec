import {
  HASH_BYTES,
  type LeafRange,
  rangeHashFromSubtrees,
  type Subtree,
  subtreesOf,
  type TreeHasher,
} from './tree.js'

/**
 * Tiles of a transparency log (C2SP tlog-tiles): rows of up to 256 hashes, each of a subtree with `256^level` leaves.
 * This module also runs in browsers.
 */

/** Number of hashes in a full tile, and of entries in a full bundle. */
export const TILE_WIDTH = 256
/** Levels of the tree within one tile. */
const TILE_HEIGHT = 8
/** Maximum number of tile levels: sizes have at most 53 bits. */
const MAX_TILE_LEVELS = 7

/** A tile: hashes `index * 256` to `index * 256 + width - 1` of its level. */
export interface Tile {
  level: number
  index: number
  /** 1 to 256; below 256 the tile is partial. */
  width: number
}

/**
 * Place of an entry bundle (C2SP tlog-tiles): of the leaves whose hashes are the tile of level 0 with the same index.
 */
export type EntryBundle = Omit<Tile, 'level'>

/** Number of full tiles of a level in a tree of `size` leaves, and width of the partial tile after them (0: none). */
export function tileCountsOfLevel(level: number, size: number): { full: number; partial: number } {
  const hashes = Math.floor(size / TILE_WIDTH ** level)
  return { full: Math.floor(hashes / TILE_WIDTH), partial: hashes % TILE_WIDTH }
}

/** The tile of a level and index in a tree of `size` leaves. Null where the tree has no such tile. */
export function tileAt(size: number, level: number, index: number): Tile | null {
  const { full, partial } = tileCountsOfLevel(level, size)
  if (index < full) return { level, index, width: TILE_WIDTH }
  return index === full && partial > 0 ? { level, index, width: partial } : null
}

/** Where to find a subtree's hash: it is the root of `count` hashes of a tile, beginning at `offset`. */
function tilePlaceOf({ level, index }: Subtree) {
  const tileLevel = Math.floor(level / TILE_HEIGHT)
  const count = 2 ** (level % TILE_HEIGHT)
  const first = index * count
  return {
    level: tileLevel,
    index: Math.floor(first / TILE_WIDTH),
    offset: first % TILE_WIDTH,
    count,
  }
}

/**
 * Tiles that are needed to compute the hashes of some ranges of leaves, without duplicates.
 * @throws RangeError for a range that a tree of `size` leaves does not have
 */
export function tilesForRanges(ranges: readonly LeafRange[], size: number): Tile[] {
  const tiles = new Map<string, Tile>()
  for (const range of ranges)
    for (const subtree of subtreesOf(range)) {
      const { level, index } = tilePlaceOf(subtree)
      const tile = tileAt(size, level, index)
      if (!tile) throw new RangeError(`a tree of ${size} leaves has no tile ${level}/${index}`)
      tiles.set(tileKey(tile), tile)
    }
  return [...tiles.values()]
}

/** Hashes of tiles, by `tileKey`. Each tile has as many hashes as its width says. */
export type TileHashes = ReadonlyMap<string, Uint8Array>

export const tileKey = ({ level, index }: Pick<Tile, 'level' | 'index'>): string =>
  `${level}/${index}`

/** Hash of a range of leaves of a tree. @throws RangeError where a tile is missing or too short */
export function rangeHashFromTiles(
  tree: TreeHasher,
  range: LeafRange,
  tiles: TileHashes,
): Uint8Array {
  return rangeHashFromSubtrees(
    tree,
    subtreesOf(range).map((subtree) => hashOfSubtree(tree, subtree, tiles)),
  )
}

function hashOfSubtree(tree: TreeHasher, subtree: Subtree, tiles: TileHashes): Uint8Array {
  const { offset, count, ...tile } = tilePlaceOf(subtree)
  const hashes = tiles.get(tileKey(tile))
  const end = (offset + count) * HASH_BYTES
  if (!hashes || hashes.length < end)
    throw new RangeError(`tile ${tileKey(tile)} has no hash ${offset + count - 1}`)
  return subtreeRootOfHashes(tree, splitTileHashes(hashes.subarray(offset * HASH_BYTES, end)))
}

/** Root of a complete subtree, computed from the hashes of all its nodes on one level. */
export function subtreeRootOfHashes(tree: TreeHasher, row: readonly Uint8Array[]): Uint8Array {
  let above = row
  while (above.length > 1) above = parentHashes(tree, above)
  return above[0]!
}

/** Splits a tile into its hashes. */
export const splitTileHashes = (tile: Uint8Array): Uint8Array[] =>
  Array.from({ length: tile.length / HASH_BYTES }, (_, i) =>
    tile.subarray(i * HASH_BYTES, (i + 1) * HASH_BYTES),
  )

/** Concatenates the hashes of a tile. */
export function concatHashes(hashes: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(hashes.length * HASH_BYTES)
  for (const [i, hash] of hashes.entries()) bytes.set(hash, i * HASH_BYTES)
  return bytes
}

function parentHashes({ node }: TreeHasher, row: readonly Uint8Array[]): Uint8Array[] {
  const above: Uint8Array[] = []
  for (let i = 0; i < row.length; i += 2) above.push(node(row[i]!, row[i + 1]!))
  return above
}

/** Root of a tree of `size` leaves, computed from its tiles. @throws RangeError where a tile is missing or too short */
export const treeRoot = (tree: TreeHasher, size: number, tiles: TileHashes): Uint8Array =>
  size === 0 ? tree.empty : rangeHashFromTiles(tree, { from: 0, to: size }, tiles)

/** Path of a tile after the log's prefix: `tile/0/x001/234`, with `.p/<width>` for a partial tile. */
export const tilePath = ({ level, ...rest }: Tile): string => `tile/${level}/${indexPath(rest)}`

export const bundlePath = (bundle: EntryBundle): string => `tile/entries/${indexPath(bundle)}`

function indexPath({ index, width }: EntryBundle): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.../g)!
  const last = groups.length - 1
  const path = groups.map((group, i) => (i < last ? `x${group}` : group)).join('/')
  return width === TILE_WIDTH ? path : `${path}.p/${width}`
}

const TILE_PATH_PATTERN = /^tile\/(entries|\d)\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

/** Parses the path of a tile, or of an entry bundle (level null). Null for a malformed path. */
export function parseTilePath(path: string): (EntryBundle & { level: number | null }) | null {
  const [, kind, groups, partial] = TILE_PATH_PATTERN.exec(path) ?? []
  if (kind === undefined || groups === undefined) return null
  const level = kind === 'entries' ? null : Number(kind)
  const index = Number(groups.replaceAll(/[x/]/g, ''))
  const width = partial === undefined ? TILE_WIDTH : Number(partial)
  const isWidth = width < TILE_WIDTH || partial === undefined
  if (!Number.isSafeInteger(index) || !isWidth || (level ?? 0) >= MAX_TILE_LEVELS) return null
  const tile = { level, index, width }
  // accept only the canonical path, because caches store each path for ever
  return path === `tile/${kind}/${indexPath(tile)}` ? tile : null
}

/**
 * Bytes of a bundle: each entry with its 16-bit length before it. @throws RangeError for an entry of 65,536 bytes or
 * more
 */
export function packBundle(entries: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(entries.reduce((sum, { length }) => sum + 2 + length, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const entry of entries) {
    if (entry.length > 0xffff) throw new RangeError(`an entry has ${entry.length} bytes`)
    view.setUint16(at, entry.length)
    bytes.set(entry, at + 2)
    at += 2 + entry.length
  }
  return bytes
}

/** Splits a bundle into its `width` entries. @throws RangeError for another number of entries */
export function unpackBundle(bytes: Uint8Array, width: number): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const entries: Uint8Array[] = []
  let at = 0
  while (at + 2 <= bytes.length && entries.length < width) {
    const end = at + 2 + view.getUint16(at)
    if (end > bytes.length) break
    entries.push(bytes.subarray(at + 2, end))
    at = end
  }
  if (at !== bytes.length || entries.length !== width)
    throw new RangeError(
      `a bundle of ${width} entries has ${entries.length}, and ${bytes.length - at} bytes more`,
    )
  return entries
}
