import { StandardMerkleTree } from '@openzeppelin/merkle-tree'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { proofFromPages, proofPages } from '../../../test/support/airdropPages.js'
import { createPageWriter, offsetOf, proofSteps } from '../../db/airdrop/pages.js'
import { toHex } from '../primitives/bytes.js'
import { airdropLeaf, createTreeBuilder, leafPosition, nodeCount, proofPositions, rootOfProof } from './tree.js'

interface Allocation {
  account: Buffer
  amount: bigint
}

const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes))
const allocation = fc.record({ account: word, amount: fc.bigInt(0n, 2n ** 256n - 1n) })

/** Our tree, and its leaves by rank, each with the index of its allocation. */
function build(allocations: readonly Allocation[]) {
  const leaves = allocations
    .map(({ account, amount }, index) => ({ index, hash: airdropLeaf(BigInt(index), account, amount) }))
    .sort((a, b) => Buffer.compare(a.hash, b.hash))
  const nodes = new Map<number, Buffer>()
  const pages = new Map<number, Buffer>()
  const writer = createPageWriter(leaves.length, (page, bytes) => {
    expect(pages.has(page)).toBe(false)
    pages.set(page, bytes)
  })
  let [mostWaiting, mostOpen] = [0, 0]
  const builder = createTreeBuilder(leaves.length, (position, hash) => {
    expect(nodes.has(position)).toBe(false)
    nodes.set(position, hash)
    writer.put(position, hash)
  })
  for (const { hash } of leaves) {
    builder.add(hash)
    mostWaiting = Math.max(mostWaiting, builder.waiting())
    mostOpen = Math.max(mostOpen, writer.open())
  }
  expect(writer.open()).toBe(0)
  return { root: builder.root(), leaves, nodes, pages, mostWaiting, mostOpen }
}

/** The same tree by OpenZeppelin. */
const reference = (allocations: readonly Allocation[]) =>
  StandardMerkleTree.of(
    allocations.map(({ account, amount }, index) => [`${index}`, toHex(account), `${amount}`]),
    ['uint256', 'bytes32', 'uint256'],
  )

const some = (count: number): Allocation[] =>
  Array.from({ length: count }, (_, i) => ({ account: Buffer.alloc(32, i % 251), amount: BigInt(i) ** 9n }))

/** Every node is OpenZeppelin's, and so is every proof from pages (of a large tree: some of them). */
function expectSame(allocations: readonly Allocation[]) {
  const ours = build(allocations)
  const theirs = reference(allocations)
  expect(toHex(ours.root)).toBe(theirs.root)
  const dump = theirs.dump().tree
  expect(dump).toHaveLength(nodeCount(allocations.length))
  expect(dump.map((_, position) => toHex(ours.nodes.get(position)!))).toEqual(dump)
  const step = Math.ceil(allocations.length / 100)
  ours.leaves.forEach(({ index, hash }, rank) => {
    if (rank % step !== 0) return
    const position = leafPosition(allocations.length, rank)
    const proof = proofFromPages(position, ours.pages)
    expect(proof.map(toHex)).toEqual(theirs.getProof(index))
    expect(rootOfProof(hash, proof).equals(ours.root)).toBe(true)
  })
}

describe('the tree of an airdrop', () => {
  it('is that of OpenZeppelin, node for node and proof for proof, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(allocation, { minLength: 1, maxLength: 40 }), (allocations) => {
        expectSame(allocations)
      }),
      { numRuns: 40 },
    )
  })

  it.each([1, 2, 3, 31, 32, 33, 63, 64, 65, 1025])('and of whatever size: %i', (count) => {
    expectSame(some(count))
  })

  it('is built with a few nodes and pages in hand', () => {
    for (const count of [1024, 1025, 3000]) {
      const { mostWaiting, mostOpen } = build(some(count))
      expect(mostWaiting).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(count)))
      expect(mostOpen).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(count)))
    }
  })

  it('takes its leaves in ascending order, each once, and no more than announced', () => {
    const [a, b] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
    const builder = createTreeBuilder(2)
    builder.add(b)
    expect(() => builder.add(a)).toThrow('not in order')
    expect(() => builder.add(b)).toThrow('not in order')
    expect(() => builder.root()).toThrow('1 of its 2 leaves')
    builder.add(Buffer.alloc(32, 3))
    expect(() => builder.add(Buffer.alloc(32, 4))).toThrow('has its 2 leaves')
  })

  it.each([0, -1, 1.5, Number.NaN, 2 ** 30 + 1])('has not %d leaves', (count) => {
    expect(() => createTreeBuilder(count)).toThrow(`a tree has 1 to 2^30 leaves, not ${count}`)
  })

  it('has up to 2^30 leaves', () => {
    expect(createTreeBuilder(2 ** 30).waiting()).toBe(0)
  })

  it('has leaves of well-formed accounts and amounts only', () => {
    expect(() => airdropLeaf(0n, Buffer.alloc(20), 1n)).toThrow('an account has 32 bytes, not 20')
    const tooMuch = 2n ** 256n
    expect(() => airdropLeaf(0n, Buffer.alloc(32), tooMuch)).toThrow(`${tooMuch} does not fit an unsigned 256-bit word`)
    expect(() => airdropLeaf(-1n, Buffer.alloc(32), 1n)).toThrow('-1 does not fit an unsigned 256-bit word')
    for (const value of [-(2n ** 256n), -(2n ** 300n)])
      expect(() => airdropLeaf(0n, Buffer.alloc(32), value)).toThrow(RangeError)
  })

  it('proves nothing for another index, account or amount', () => {
    const allocations = some(50)
    const { root, leaves, pages } = build(allocations)
    fc.assert(
      fc.property(fc.nat(49), fc.bigInt(0n, 60n), allocation, (rank, otherIndex, other) => {
        const { index } = leaves[rank]!
        const { account, amount } = allocations[index]!
        const proof = proofFromPages(leafPosition(50, rank), pages)
        const proves = (leaf: Buffer) => rootOfProof(leaf, proof).equals(root)
        expect(proves(airdropLeaf(BigInt(index), account, amount))).toBe(true)
        expect(proves(airdropLeaf(otherIndex, account, amount))).toBe(otherIndex === BigInt(index))
        expect(proves(airdropLeaf(BigInt(index), other.account, amount))).toBe(other.account.equals(account))
        expect(proves(airdropLeaf(BigInt(index), account, other.amount))).toBe(other.amount === amount)
      }),
    )
  })
})

describe('pages', () => {
  it('give each node a place of its own, page after page without a gap', () => {
    const taken = new Map<number, number[]>()
    for (let position = 1; position < nodeCount(5000); position++) {
      const { page, offset } = offsetOf(position)
      taken.set(page, [...(taken.get(page) ?? []), offset])
    }
    for (const offsets of taken.values()) {
      expect(offsets).toEqual(offsets.map((_, i) => i * 32))
      expect(offsets.length).toBeLessThanOrEqual(62)
    }
  })

  it('are four for a proof among a million leaves, and the root needs none', () => {
    expect(proofPositions(leafPosition(1_000_000, 0))).toHaveLength(20)
    expect(proofPages(leafPosition(1_000_000, 0))).toHaveLength(4)
    expect(proofPages(0)).toEqual([])
    expect(proofFromPages(0, new Map())).toEqual([])
    expect(() => offsetOf(0)).toThrow(RangeError)
  })

  it('give a proof step by step too, none of which has more than five nodes', () => {
    for (const count of [1, 2, 33, 300]) {
      const { pages } = build(some(count))
      for (const position of [leafPosition(count, 0), leafPosition(count, count - 1)]) {
        const steps = proofSteps(position)
        expect(steps.map(({ page }) => page)).toEqual(proofPages(position))
        expect(steps.every(({ slots }) => slots.length <= 5)).toBe(true)
        const nodes = steps.flatMap(({ page, slots }) =>
          slots.map((slot) => pages.get(page)!.subarray(32 * slot, 32 * (slot + 1))),
        )
        expect(nodes).toEqual(proofFromPages(position, pages))
      }
    }
  })

  it('that are missing or cut short give no proof', () => {
    const { pages } = build(some(10))
    const [page, nodes] = [...pages][0]!
    expect(() => proofFromPages(17, new Map())).toThrow('lacks node')
    expect(() => proofFromPages(17, new Map([[page, nodes.subarray(0, -1)]]))).toThrow('lacks node')
  })
})
