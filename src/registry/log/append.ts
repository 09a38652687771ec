import {
  hashesOf,
  joinHashes,
  keyOfTile,
  rootOf,
  rootOfRow,
  TILE_WIDTH,
  type Tile,
  type TileHashes,
  tileIn,
} from './tiles.js'
import { HASH_BYTES, type TreeHash } from './tree.js'

/** A tile with its hashes, one behind the other. */
export interface FilledTile extends Tile {
  hashes: Uint8Array
}

/** The partial tiles of a tree, at most one a level: what is needed to append to it. */
export function edgeOf(size: number): Tile[] {
  const tiles: Tile[] = []
  for (
    let level = 0, hashes = size;
    hashes > 0;
    level++, hashes = Math.floor(hashes / TILE_WIDTH)
  ) {
    const tile = tileIn(size, level, Math.floor(hashes / TILE_WIDTH))
    if (tile) tiles.push(tile)
  }
  return tiles
}

/** A tree that has grown. */
export interface Grown {
  size: number
  root: Uint8Array
  /** Tiles that are new or longer. */
  tiles: FilledTile[]
}

/**
 * Appends leaves to a tree.
 * @param edge the tiles of `edgeOf(size)`
 * @param leaves hashes of the leaves
 */
export function appendLeaves(
  tree: TreeHash,
  { size, edge }: { size: number; edge: TileHashes },
  leaves: readonly Uint8Array[],
): Grown {
  const levels: Level[] = []
  const levelAt = (level: number): Level => {
    levels[level] ??= openLevel(level, size, edge)
    return levels[level]
  }
  const full: FilledTile[] = []
  const push = (level: number, hash: Uint8Array): void => {
    const open = levelAt(level)
    open.hashes.push(hash)
    open.isLonger = true
    if (open.hashes.length < TILE_WIDTH) return
    full.push(filled(open))
    push(level + 1, rootOfRow(tree, open.hashes))
    levels[level] = { level, index: open.index + 1, hashes: [], isLonger: false }
  }
  for (const leaf of leaves) push(0, leaf)
  const grownSize = size + leaves.length
  // levels that got nothing are part of the root too
  for (const { level } of edgeOf(grownSize)) levelAt(level)
  const partial = levels
    .filter(({ hashes }) => hashes.length > 0)
    .map((one) => ({ ...one, tile: filled(one) }))
  const hashes = new Map(partial.map(({ tile }) => [keyOfTile(tile), tile.hashes]))
  return {
    size: grownSize,
    root: rootOf(tree, grownSize, hashes),
    tiles: [...full, ...partial.filter(({ isLonger }) => isLonger).map(({ tile }) => tile)],
  }
}

interface Level {
  level: number
  /** Index of the tile that is being filled. */
  index: number
  hashes: Uint8Array[]
  isLonger: boolean
}

function openLevel(level: number, size: number, edge: TileHashes): Level {
  const index = Math.floor(size / TILE_WIDTH ** (level + 1))
  const width = Math.floor(size / TILE_WIDTH ** level) % TILE_WIDTH
  const known = edge.get(keyOfTile({ level, index }))
  if (width > 0 && known?.length !== width * HASH_BYTES)
    throw new RangeError(
      `tile ${level}/${index} of a tree of ${size} leaves has not ${width} hashes`,
    )
  return { level, index, hashes: width > 0 ? hashesOf(known!) : [], isLonger: false }
}

const filled = ({ level, index, hashes }: Level): FilledTile => ({
  level,
  index,
  width: hashes.length,
  hashes: joinHashes(hashes),
})

/** A tree that is built leaf by leaf, whose edge alone is kept. */
export class GrowingTree {
  size: number
  root: Uint8Array
  readonly #tree: TreeHash
  #edge: TileHashes

  /** @param from a tree that it goes on from; default: without leaves */
  constructor(
    tree: TreeHash,
    from: { size: number; edge: TileHashes } = { size: 0, edge: new Map() },
  ) {
    this.#tree = tree
    this.size = from.size
    this.#edge = from.edge
    this.root = appendLeaves(tree, from, []).root
  }

  /** @param leaves hashes @returns tiles that are new or longer */
  append(leaves: readonly Uint8Array[]): FilledTile[] {
    const { size, root, tiles } = appendLeaves(
      this.#tree,
      { size: this.size, edge: this.#edge },
      leaves,
    )
    const known = new Map([
      ...this.#edge,
      ...tiles.map((tile) => [keyOfTile(tile), tile.hashes] as const),
    ])
    this.#edge = new Map(edgeOf(size).map((tile) => [keyOfTile(tile), known.get(keyOfTile(tile))!]))
    this.size = size
    this.root = root
    return tiles
  }
}
