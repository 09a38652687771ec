import {
  concatHashes,
  splitTileHashes,
  subtreeRootOfHashes,
  TILE_WIDTH,
  type Tile,
  type TileHashes,
  tileAt,
  tileKey,
  treeRoot,
} from './tiles.js'
import { HASH_BYTES, type TreeHasher } from './tree.js'

/** A tile with its hashes, concatenated. */
export interface FilledTile extends Tile {
  hashes: Uint8Array
}

/** The partial tiles of a tree, at most one per level. Only they are needed to append leaves to the tree. */
export function partialTilesOf(size: number): Tile[] {
  const tiles: Tile[] = []
  for (
    let level = 0, hashes = size;
    hashes > 0;
    level++, hashes = Math.floor(hashes / TILE_WIDTH)
  ) {
    const tile = tileAt(size, level, Math.floor(hashes / TILE_WIDTH))
    if (tile) tiles.push(tile)
  }
  return tiles
}

/** A tree that is built leaf by leaf. Only its partial tiles are kept. */
export class GrowingTree {
  size: number
  readonly #tree: TreeHasher
  readonly #levels: OpenTile[]

  /**
   * Continues a tree of `size` leaves; by default an empty one. `edge` has the tiles of `partialTilesOf(size)`.
   * @throws RangeError where one of these tiles is missing in `edge`, or has more or fewer hashes than `size` requires
   */
  constructor(
    tree: TreeHasher,
    { size, edge }: { size: number; edge: TileHashes } = { size: 0, edge: new Map() },
  ) {
    this.#tree = tree
    this.size = size
    this.#levels = []
    for (let level = 0; TILE_WIDTH ** level <= size; level++)
      this.#levels.push(openTileOf(level, size, edge))
  }

  get root(): Uint8Array {
    const partial = this.#levels
      .map(filledTileOf)
      .map((tile) => [tileKey(tile), tile.hashes] as const)
    return treeRoot(this.#tree, this.size, new Map(partial))
  }

  /** Appends leaves. @param leaves hashes of the leaves @returns the tiles that are new or have grown */
  append(leaves: readonly Uint8Array[]): FilledTile[] {
    const tiles: FilledTile[] = []
    const grown = new Set<OpenTile>()
    const push = (level: number, hash: Uint8Array): void => {
      this.#levels[level] ??= { level, index: 0, hashes: [] }
      const open = this.#levels[level]
      open.hashes.push(hash)
      grown.add(open)
      if (open.hashes.length < TILE_WIDTH) return
      tiles.push(filledTileOf(open))
      grown.delete(open)
      push(level + 1, subtreeRootOfHashes(this.#tree, open.hashes))
      open.index += 1
      open.hashes = []
    }
    for (const leaf of leaves) push(0, leaf)
    this.size += leaves.length
    return [...tiles, ...[...grown].map(filledTileOf)]
  }
}

/** The tile of a level that is being filled. */
interface OpenTile {
  level: number
  index: number
  hashes: Uint8Array[]
}

function openTileOf(level: number, size: number, edge: TileHashes): OpenTile {
  const index = Math.floor(size / TILE_WIDTH ** (level + 1))
  const width = Math.floor(size / TILE_WIDTH ** level) % TILE_WIDTH
  const known = edge.get(tileKey({ level, index }))
  if (width > 0 && known?.length !== width * HASH_BYTES)
    throw new RangeError(
      `tile ${level}/${index} of a tree of ${size} leaves has not ${width} hashes`,
    )
  return { level, index, hashes: width > 0 ? splitTileHashes(known!) : [] }
}

const filledTileOf = ({ level, index, hashes }: OpenTile): FilledTile => ({
  level,
  index,
  width: hashes.length,
  hashes: concatHashes(hashes),
})
