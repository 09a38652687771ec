import { StandardMerkleTree } from '@openzeppelin/merkle-tree'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rootOfProof } from '../../../test/support/merkleProof.js'
import { packTreePages, pagesWithProofs, proofFromPages } from '../../db/airdrop/pages.js'
import { toHex } from '../primitives/bytes.js'
import { airdropLeaf, buildAirdropTree, MAX_AIRDROP_ACCOUNTS } from './tree.js'

interface Allocation {
  account: Buffer
  amount: bigint
}

const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes))
const allocation = fc.record({ account: word, amount: fc.bigInt(0n, 2n ** 256n - 1n) })

/** Our tree, its leaves, and the proof of each, computed from its pages. */
function build(allocations: readonly Allocation[]) {
  const leaves = allocations.map(({ account, amount }, index) =>
    airdropLeaf(BigInt(index), account, amount),
  )
  const { nodes, positions } = buildAirdropTree(leaves)
  const pages = packTreePages(nodes)
  return {
    root: nodes[0]!,
    leaves,
    nodes,
    pages,
    proofOf: (index: number) => proofFromPages(pages, positions[index]!),
  }
}

/** The same tree by OpenZeppelin. */
const reference = (allocations: readonly Allocation[]) =>
  StandardMerkleTree.of(
    allocations.map(({ account, amount }, index) => [`${index}`, toHex(account), `${amount}`]),
    ['uint256', 'bytes32', 'uint256'],
  )

const some = (count: number): Allocation[] =>
  Array.from({ length: count }, (_, i) => ({
    account: Buffer.alloc(32, i % 251),
    amount: BigInt(i) ** 9n,
  }))

/** Checks that every node equals OpenZeppelin's, and so do the proofs from pages (for a large tree: some of them). */
function expectSame(allocations: readonly Allocation[]) {
  const { root, leaves, nodes, proofOf } = build(allocations)
  const theirs = reference(allocations)
  expect(toHex(root)).toBe(theirs.root)
  expect(nodes.map(toHex)).toEqual(theirs.dump().tree)
  for (let index = 0; index < leaves.length; index += Math.ceil(leaves.length / 100)) {
    const proof = proofOf(index)
    expect(proof.map(toHex)).toEqual(theirs.getProof(index))
    expect(rootOfProof(leaves[index]!, proof).equals(root)).toBe(true)
  }
}

describe('the tree of an airdrop', () => {
  it('equals OpenZeppelin’s tree, node for node and proof for proof, for any allocations', () => {
    fc.assert(
      fc.property(fc.array(allocation, { minLength: 1, maxLength: 40 }), (allocations) => {
        expectSame(allocations)
      }),
      { numRuns: 40 },
    )
  })

  it.each([1, 2, 3, 31, 32, 33, 63, 64, 65, 1025])(
    'equals OpenZeppelin’s tree with %i leaves',
    (count) => {
      expectSame(some(count))
    },
  )

  it('accepts only leaves of well-formed accounts and amounts', () => {
    const tooMuch = 2n ** 256n
    expect(() => airdropLeaf(0n, Buffer.alloc(32), tooMuch)).toThrow(
      `${tooMuch} does not fit an unsigned 256-bit word`,
    )
    expect(() => airdropLeaf(-1n, Buffer.alloc(32), 1n)).toThrow(
      '-1 does not fit an unsigned 256-bit word',
    )
  })

  it.each([-(2n ** 256n), -(2n ** 300n)])('accepts no leaf with %d', (value) => {
    expect(() => airdropLeaf(0n, Buffer.alloc(32), value)).toThrow(RangeError)
  })

  it('proves nothing for another index, account or amount', () => {
    const allocations = some(50)
    const { root, proofOf } = build(allocations)
    fc.assert(
      fc.property(fc.nat(49), fc.bigInt(0n, 60n), allocation, (index, otherIndex, other) => {
        const { account, amount } = allocations[index]!
        const proof = proofOf(index)
        const proves = (leaf: Buffer) => rootOfProof(leaf, proof).equals(root)
        expect(proves(airdropLeaf(BigInt(index), account, amount))).toBe(true)
        expect(proves(airdropLeaf(otherIndex, account, amount))).toBe(otherIndex === BigInt(index))
        expect(proves(airdropLeaf(BigInt(index), other.account, amount))).toBe(
          other.account.equals(account),
        )
        expect(proves(airdropLeaf(BigInt(index), account, other.amount))).toBe(
          other.amount === amount,
        )
      }),
    )
  })
})

describe('pages', () => {
  it('are at most four per proof, with 62 nodes each', () => {
    const { pages } = build(some(5_000))
    for (const [page, nodes] of pages)
      expect(nodes.length, `page ${page}`).toBeLessThanOrEqual(62 * 32)
    expect(pagesWithProofs([2 * MAX_AIRDROP_ACCOUNTS - 2])).toHaveLength(4)
    expect(pagesWithProofs([0])).toEqual([])
    expect(proofFromPages(new Map(), 0)).toEqual([])
  })

  it('that are missing or truncated give no proof', () => {
    const { pages } = build(some(10))
    const [page, nodes] = [...pages][0]!
    expect(() => proofFromPages(new Map(), 17)).toThrow('does not have node')
    expect(() => proofFromPages(new Map([[page, nodes.subarray(0, -1)]]), 17)).toThrow(
      'does not have node',
    )
  })
})
