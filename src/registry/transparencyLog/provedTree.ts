import { partialTilesOf } from './append.js'
import type { TreeHead } from './note.js'
import {
  concatHashes,
  type EntryBundle,
  splitTileHashes,
  subtreeRootOfHashes,
  TILE_WIDTH,
  type Tile,
  type TileHashes,
  tileKey,
  treeRoot,
} from './tiles.js'
import { HASH_BYTES, isSameHash, type TreeHasher } from './tree.js'

/** Reads tiles. Each tile has as many hashes as its width says. */
export type ReadTiles = (tiles: readonly Tile[]) => Promise<TileHashes>

/** A tree read from tiles. Tiles are used only after they were proved by the root of a checkpoint. */
export class ProvedTree {
  readonly #tree: TreeHasher
  readonly #read: ReadTiles
  /** Hashes of proved tiles, by `tileKey`. Of level 0 only the last tile, if it is partial. */
  readonly #proved: Map<string, Uint8Array>

  private constructor(tree: TreeHasher, read: ReadTiles, edge: TileHashes) {
    this.#tree = tree
    this.#read = read
    this.#proved = new Map(edge)
  }

  /**
   * Opens a tree and proves its partial tiles.
   * @throws RangeError where the tiles at the tree's end do not give its root; errors of `read`
   */
  static async open(
    tree: TreeHasher,
    { size, root }: Pick<TreeHead, 'size' | 'root'>,
    read: ReadTiles,
  ): Promise<ProvedTree> {
    const edge = await read(partialTilesOf(size))
    if (!isSameHash(treeRoot(tree, size, edge), root))
      throw new RangeError('the tiles at its end do not make its root')
    return new ProvedTree(tree, read, edge)
  }

  /**
   * Checks the leaves of a bundle.
   * @param leaves hashes, as many as the bundle has in this tree
   * @param root of a full bundle, where it is known
   * @throws RangeError where the leaves, or a tile above them, were altered; errors of `read`
   */
  async assertBundle(
    { index }: Pick<EntryBundle, 'index'>,
    leaves: readonly Uint8Array[],
    root?: Uint8Array,
  ): Promise<void> {
    const isSame =
      leaves.length < TILE_WIDTH
        ? isSameHash(concatHashes(leaves), this.#proved.get(tileKey({ level: 0, index }))!)
        : isSameHash(root ?? subtreeRootOfHashes(this.#tree, leaves), await this.#hashAt(1, index))
    if (!isSame) throw new RangeError(`entries of bundle ${index} were altered`)
  }

  async #hashAt(level: number, index: number): Promise<Uint8Array> {
    const hashes = await this.#hashesOf({ level, index: Math.floor(index / TILE_WIDTH) })
    const from = (index % TILE_WIDTH) * HASH_BYTES
    return hashes.subarray(from, from + HASH_BYTES)
  }

  /** Hashes of a tile. A full tile is proved by its hash in the tile above. */
  async #hashesOf(place: Pick<Tile, 'level' | 'index'>): Promise<Uint8Array> {
    const key = tileKey(place)
    const known = this.#proved.get(key)
    if (known) return known
    const tiles = await this.#read([{ ...place, width: TILE_WIDTH }])
    const hashes = tiles.get(key)
    const above = await this.#hashAt(place.level + 1, place.index)
    if (!hashes || !isSameHash(subtreeRootOfHashes(this.#tree, splitTileHashes(hashes)), above))
      throw new RangeError(`tile ${key} was altered`)
    this.#proved.set(key, hashes)
    return hashes
  }
}
