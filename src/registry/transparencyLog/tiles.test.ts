import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../primitives/sha256.js'
import {
  bundlePath,
  packBundle,
  parseTilePath,
  rangeHashFromTiles,
  type Tile,
  tileAt,
  tileCountsOfLevel,
  tileKey,
  tilePath,
  tilesForRanges,
  treeRoot,
  unpackBundle,
} from './tiles.js'
import {
  consistencyProofRanges,
  createTreeHasher,
  inclusionProofRanges,
  isConsistencyProofValid,
  rootOfInclusionProof,
} from './tree.js'

const tree = createTreeHasher(sha256)
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const leafOf = (i: number) => tree.leaf(Buffer.from(`event ${i}`))

/** A log of 70,000 leaves: two whole levels of tiles, and a third. */
const LOG_SIZE = 70_000
const levels: Uint8Array[][] = [Array.from({ length: LOG_SIZE }, (_, i) => leafOf(i))]
for (let level = 0; levels[level]!.length > 1; level++) {
  const row = levels[level]!
  const pairs = Math.floor(row.length / 2)
  levels.push(Array.from({ length: pairs }, (_, i) => tree.node(row[2 * i]!, row[2 * i + 1]!)))
}
const readTile = ({ level, index, width }: Tile) =>
  Buffer.concat(levels[8 * level]!.slice(index * 256, index * 256 + width))
const readFor = (tiles: readonly Tile[]) =>
  new Map(tiles.map((tile) => [tileKey(tile), readTile(tile)]))

/** Root by the definition: complete subtrees, from the largest to the smallest. */
function expectedRoot(size: number): Uint8Array {
  let root: Uint8Array | null = null
  for (let level = 0; 2 ** level <= size; level++) {
    const index = Math.floor(size / 2 ** level)
    if (index % 2 === 0) continue
    const left = levels[level]![index - 1]!
    root = root ? tree.node(left, root) : left
  }
  return root ?? tree.empty
}

const sizes = fc.integer({ min: 1, max: LOG_SIZE })

describe('tiles', () => {
  it('equal the standard’s example', () => {
    expect([0, 1, 2, 3].map((level) => tileCountsOfLevel(level, LOG_SIZE))).toEqual([
      { full: 273, partial: 112 },
      { full: 1, partial: 17 },
      { full: 0, partial: 1 },
      { full: 0, partial: 0 },
    ])
    expect(tileAt(LOG_SIZE, 0, 273)).toEqual({ level: 0, index: 273, width: 112 })
    expect(tileAt(LOG_SIZE, 0, 274)).toBeNull()
    expect(tileAt(256, 1, 0)).toEqual({ level: 1, index: 0, width: 1 })
  })

  it('give the root of each size', () => {
    fc.assert(
      fc.property(sizes, (size) => {
        const tiles = readFor(tilesForRanges([{ from: 0, to: size }], size))
        expect(hex(treeRoot(tree, size, tiles))).toBe(hex(expectedRoot(size)))
      }),
    )
    expect(hex(treeRoot(tree, 0, new Map()))).toBe(hex(tree.empty))
  })

  it('prove each leaf, and each older tree', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), (size, n) => {
        const index = n % size
        const old = { size: 1 + index, root: expectedRoot(1 + index) }
        const ranges = inclusionProofRanges(index, size)
        const older = consistencyProofRanges(old.size, size)
        const tiles = readFor(tilesForRanges([...ranges, ...older], size))
        const proof = ranges.map((range) => rangeHashFromTiles(tree, range, tiles))
        const root = expectedRoot(size)
        expect(hex(rootOfInclusionProof(tree, leafOf(index), { index, size }, proof)!)).toBe(
          hex(root),
        )
        const consistency = older.map((range) => rangeHashFromTiles(tree, range, tiles))
        expect(isConsistencyProofValid(tree, old, { size, root }, consistency)).toBe(true)
      }),
    )
  })

  it('that are missing or truncated give an error that names them', () => {
    const whole = readTile(tileAt(LOG_SIZE, 0, 0)!)
    const cut = new Map([['0/0', whole.subarray(0, 32)]])
    expect(() => rangeHashFromTiles(tree, { from: 0, to: 2 }, cut)).toThrow(
      'tile 0/0 has no hash 1',
    )
    expect(() => rangeHashFromTiles(tree, { from: 256, to: 257 }, cut)).toThrow(
      'tile 0/1 has no hash 0',
    )
  })
})

describe('the path of a tile', () => {
  it.each([
    ['tile/0/x001/x234/067', { level: 0, index: 1_234_067, width: 256 }],
    ['tile/1/000.p/17', { level: 1, index: 0, width: 17 }],
    ['tile/entries/273.p/112', { level: null, index: 273, width: 112 }],
    ['tile/entries/x001/000', { level: null, index: 1_000, width: 256 }],
  ])('%s is read and written', (path, tile) => {
    expect(parseTilePath(path)).toEqual(tile)
    const { level, ...bundle } = tile
    expect(level === null ? bundlePath(bundle) : tilePath({ level, ...bundle })).toBe(path)
  })

  it.each([
    ['a number that is not padded', 'tile/0/7'],
    ['zeros in front', 'tile/0/x000/001'],
    ['a level with zeros', 'tile/00/001'],
    ['a level beyond all trees', 'tile/7/000'],
    ['a full width that is said', 'tile/0/000.p/256'],
    ['a width of zero', 'tile/0/000.p/0'],
    ['a width with zeros', 'tile/0/000.p/01'],
    ['a last group with an x', 'tile/0/x001'],
    ['a first group without one', 'tile/0/001/234'],
    ['another folder', 'tiles/0/000'],
    ['a line break', 'tile/0/000\n'],
    ['more than 53 bits', `tile/0/${'x999/'.repeat(6)}999`],
  ])('is refused with %s', (_case, path) => {
    expect(parseTilePath(path)).toBeNull()
  })
})

describe('a bundle', () => {
  it('is unpacked to its entries, and only with its width', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 20 }),
        (entries) => {
          const bytes = packBundle(entries)
          expect(unpackBundle(bytes, entries.length).map(hex)).toEqual(entries.map(hex))
          expect(() => unpackBundle(bytes, entries.length + 1)).toThrow(RangeError)
          expect(() => unpackBundle(bytes.subarray(1), entries.length)).toThrow(RangeError)
          expect(() => unpackBundle(Buffer.concat([bytes, Buffer.of(0)]), entries.length)).toThrow(
            RangeError,
          )
        },
      ),
    )
  })

  it('cannot have an entry of 65,536 bytes', () => {
    expect(() => packBundle([new Uint8Array(65_536)])).toThrow('an entry has 65536 bytes')
  })
})
