import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../primitives/sha256.js'
import { type FilledTile, GrowingTree, partialTilesOf } from './append.js'
import { tileKey, tilesForRanges } from './tiles.js'
import { createTreeHasher } from './tree.js'

const tree = createTreeHasher(sha256)
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const leaf = (i: number) => tree.leaf(Buffer.from(`event ${i}`))

/** A log like in a database: each tile by its position, where newer tiles replace older ones. */
class Log {
  size = 0
  root = tree.empty
  readonly tiles = new Map<string, FilledTile>()

  append(count: number): void {
    const edge = new Map(
      partialTilesOf(this.size).map((tile) => [
        tileKey(tile),
        this.tiles.get(tileKey(tile))!.hashes,
      ]),
    )
    const leaves = Array.from({ length: count }, (_, i) => leaf(this.size + i))
    const grown = new GrowingTree(tree, { size: this.size, edge })
    for (const tile of grown.append(leaves)) this.tiles.set(tileKey(tile), tile)
    this.size = grown.size
    this.root = grown.root
  }
}

const summary = ({ size, root, tiles }: Log) => ({
  size,
  root: hex(root),
  tiles: [...tiles.values()]
    .map(({ hashes, ...tile }) => `${JSON.stringify(tile)} ${hex(hashes)}`)
    .sort(),
})

describe('a log that grows', () => {
  it('is the same for any steps of growth', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 6 }), (steps) => {
        const inSteps = new Log()
        for (const count of steps) inSteps.append(count)
        const atOnce = new Log()
        atOnce.append(inSteps.size)
        expect(summary(inSteps)).toEqual(summary(atOnce))
      }),
      { numRuns: 30 },
    )
  })

  it('is the same where its tree is reused', () => {
    const counts = [1, 255, 300, 65_536, 3]
    const log = new Log()
    for (const count of counts) log.append(count)
    const kept = new GrowingTree(tree)
    const tiles = new Map<string, FilledTile>()
    for (const count of counts) {
      const leaves = Array.from({ length: count }, (_, i) => leaf(kept.size + i))
      for (const tile of kept.append(leaves)) tiles.set(tileKey(tile), tile)
    }
    expect(summary({ size: kept.size, root: kept.root, tiles } as Log)).toEqual(summary(log))
  })

  it('has exactly the tiles of its size', () => {
    const log = new Log()
    for (const count of [1, 255, 65_536, 3]) log.append(count)
    const asked = tilesForRanges([{ from: 0, to: log.size }], log.size)
    for (const tile of asked) expect(log.tiles.get(tileKey(tile))).toMatchObject(tile)
    const levels = [...log.tiles.values()].map(({ level }) => level)
    expect([0, 1, 2].map((level) => levels.filter((one) => one === level).length)).toEqual([
      258, 2, 1,
    ])
  })

  it('refuses an edge of another tree', () => {
    const edge = new Map([['0/0', new Uint8Array(32)]])
    expect(() => new GrowingTree(tree, { size: 2, edge })).toThrow(
      'tile 0/0 of a tree of 2 leaves has not 2 hashes',
    )
  })
})
