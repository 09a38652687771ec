import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../primitives/sha256.js'
import {
  consistencyProofRanges,
  createTreeHasher,
  inclusionProofRanges,
  isConsistencyProofValid,
  type LeafRange,
  rangeHashFromSubtrees,
  rootOfInclusionProof,
  subtreesOf,
} from './tree.js'

const tree = createTreeHasher(sha256)

/** The definition of RFC 6962, implemented literally. */
function mth(entries: readonly Uint8Array[]): Uint8Array {
  if (entries.length === 0) return tree.empty
  if (entries.length === 1) return tree.leaf(entries[0]!)
  let k = 1
  while (2 * k < entries.length) k *= 2
  return tree.node(mth(entries.slice(0, k)), mth(entries.slice(k)))
}

const entriesOf = (size: number) =>
  Array.from({ length: size }, (_, i) => Buffer.from(`event ${i}`))
const ENTRIES = entriesOf(70)
const hashOf = ({ from, to }: LeafRange) => mth(ENTRIES.slice(from, to))
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

describe('a tree', () => {
  // test vectors of RFC 6962's reference implementation
  it.each([
    ['no leaf', [], 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    ['an empty leaf', [''], '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'],
    ['two leaves', ['', '00'], 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'],
    [
      'eight leaves',
      [
        '',
        '00',
        '10',
        '2021',
        '3031',
        '40414243',
        '5051525354555657',
        '606162636465666768696a6b6c6d6e6f',
      ],
      '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
    ],
  ])('has the root that Certificate Transparency computes for %s', (_name, leaves, root) => {
    const hashes = leaves.map((leaf) => tree.leaf(Buffer.from(leaf, 'hex')))
    const { length } = hashes
    const whole = subtreesOf({ from: 0, to: length }).map(({ level, index }) =>
      mth(
        leaves
          .map((leaf) => Buffer.from(leaf, 'hex'))
          .slice(index * 2 ** level, (index + 1) * 2 ** level),
      ),
    )
    expect(hex(length > 0 ? rangeHashFromSubtrees(tree, whole) : tree.empty)).toBe(root)
  })

  it('hashes any range of a proof from complete subtrees', () => {
    const ranges = Array.from({ length: 70 }, (_, i) => inclusionProofRanges(i % 70, 70)).flat()
    for (const range of ranges) {
      const hashes = subtreesOf(range).map(({ level, index }) =>
        hashOf({ from: index * 2 ** level, to: (index + 1) * 2 ** level }),
      )
      expect(hex(rangeHashFromSubtrees(tree, hashes))).toBe(hex(hashOf(range)))
    }
  })
})

const sizes = fc.integer({ min: 1, max: 70 })
const changed = (hashes: readonly Uint8Array[], at: number) =>
  hashes.map((hash, i) =>
    i === at % hashes.length ? Buffer.from(hash).fill(255 - hash[0]!, 0, 1) : hash,
  )

describe('a proof of inclusion', () => {
  it('gives the root, and an altered one does not', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), fc.nat(), (size, n, at) => {
        const index = n % size
        const root = hex(mth(ENTRIES.slice(0, size)))
        const proof = inclusionProofRanges(index, size).map(hashOf)
        const place = { index, size }
        const leaf = tree.leaf(ENTRIES[index]!)
        expect(hex(rootOfInclusionProof(tree, leaf, place, proof)!)).toBe(root)
        const altered = tree.leaf(Buffer.from('event x'))
        expect(hex(rootOfInclusionProof(tree, altered, place, proof)!)).not.toBe(root)
        expect(rootOfInclusionProof(tree, leaf, place, [...proof, leaf])).toBeNull()
        if (proof.length === 0) return
        expect(hex(rootOfInclusionProof(tree, leaf, place, changed(proof, at))!)).not.toBe(root)
      }),
    )
  })

  it('is refused for a leaf outside the tree', () => {
    expect(rootOfInclusionProof(tree, tree.leaf(ENTRIES[3]!), { index: 3, size: 3 }, [])).toBeNull()
  })
})

describe('a proof of consistency', () => {
  const headOf = (size: number) => ({ size, root: mth(ENTRIES.slice(0, size)) })

  it('is valid between any two sizes up to 33, and for no other root', () => {
    for (let size = 1; size <= 33; size++)
      for (let old = 1; old <= size; old++) {
        const proof = consistencyProofRanges(old, size).map(hashOf)
        const fork = { size: old, root: mth([...ENTRIES.slice(0, old - 1), Buffer.from('fork')]) }
        expect(
          isConsistencyProofValid(tree, headOf(old), headOf(size), proof),
          `${old} in ${size}`,
        ).toBe(true)
        expect(
          isConsistencyProofValid(tree, fork, headOf(size), proof),
          `fork of ${old} in ${size}`,
        ).toBe(false)
      }
  })

  it('is refused when a hash is altered, missing or added', () => {
    fc.assert(
      fc.property(sizes, fc.nat(), fc.nat(), (size, n, at) => {
        const old = headOf(1 + (n % size))
        const proof = consistencyProofRanges(old.size, size).map(hashOf)
        expect(isConsistencyProofValid(tree, old, headOf(size), [...proof, old.root])).toBe(false)
        if (proof.length === 0) return
        expect(isConsistencyProofValid(tree, old, headOf(size), changed(proof, at))).toBe(false)
        expect(isConsistencyProofValid(tree, old, headOf(size), proof.slice(1))).toBe(false)
      }),
    )
  })

  it('of a larger tree with a smaller one is refused', () => {
    expect(isConsistencyProofValid(tree, headOf(9), headOf(8), [])).toBe(false)
  })
})
