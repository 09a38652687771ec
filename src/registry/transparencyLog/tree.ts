/**
 * Merkle tree of a transparency log (RFC 6962, section 2.1). This module also runs in browsers: it imports nothing,
 * and the caller passes the hash function.
 */

/** SHA-256 of some bytes: 32 bytes. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/** Hashes of a tree's leaves and nodes, 32 bytes each. */
export interface TreeHasher {
  leaf(entry: Uint8Array): Uint8Array
  node(left: Uint8Array, right: Uint8Array): Uint8Array
  /** Root of the tree without leaves. */
  empty: Uint8Array
}

/** Leaves `from` to `to - 1`. */
export interface LeafRange {
  from: number
  to: number
}

/** The complete subtree over the leaves `index * 2^level` to `(index + 1) * 2^level - 1`. */
export interface Subtree {
  level: number
  index: number
}

export const HASH_BYTES = 32
/** Prefixes that distinguish leaves from nodes. */
const LEAF_PREFIX = 0
const NODE_PREFIX = 1

export function createTreeHasher(sha256: Sha256): TreeHasher {
  // reused for all nodes
  const pair = new Uint8Array(1 + 2 * HASH_BYTES)
  pair[0] = NODE_PREFIX
  return {
    leaf(entry) {
      const bytes = new Uint8Array(1 + entry.length)
      bytes[0] = LEAF_PREFIX
      bytes.set(entry, 1)
      return sha256(bytes)
    },
    node(left, right) {
      pair.set(left, 1)
      pair.set(right, 1 + HASH_BYTES)
      return sha256(pair)
    },
    empty: sha256(new Uint8Array(0)),
  }
}

/** Number of leaves in the left subtree: the largest power of two below `size`, which is at least 2. */
function leftSizeOf(size: number): number {
  let split = 1
  while (2 * split < size) split *= 2
  return split
}

/**
 * Complete subtrees that together have the leaves of a range, from left to right. The range has to be that of a node of
 * a tree, so each subtree is smaller than the subtree before it.
 */
export function subtreesOf({ from, to }: LeafRange): Subtree[] {
  const subtrees: Subtree[] = []
  for (let at = from; at < to; ) {
    let level = 0
    let size = 1
    while (at % (2 * size) === 0 && at + 2 * size <= to) {
      level += 1
      size *= 2
    }
    subtrees.push({ level, index: at / size })
    at += size
  }
  return subtrees
}

/** Hash of a range, computed from the hashes of its complete subtrees. @param hashes of `subtreesOf`, at least one */
export const rangeHashFromSubtrees = (
  { node }: TreeHasher,
  hashes: readonly Uint8Array[],
): Uint8Array => hashes.reduceRight((right, left) => node(left, right))

/**
 * Descends from the root towards a leaf, to the first range for which `isEnd` is true.
 * @returns this range, and the sibling ranges on the way back to the root
 */
function descend(
  index: number,
  size: number,
  isEnd: (range: LeafRange) => boolean,
): { beside: LeafRange[]; end: LeafRange } {
  const beside: LeafRange[] = []
  let end: LeafRange = { from: 0, to: size }
  while (!isEnd(end)) {
    const middle = end.from + leftSizeOf(end.to - end.from)
    const left = { from: end.from, to: middle }
    const right = { from: middle, to: end.to }
    const isLeft = index < middle
    beside.unshift(isLeft ? right : left)
    end = isLeft ? left : right
  }
  return { beside, end }
}

/** Ranges whose hashes prove the inclusion of a leaf, from the leaf to the root (RFC 6962, section 2.1.1). */
export const inclusionProofRanges = (index: number, size: number): LeafRange[] =>
  descend(index, size, ({ from, to }) => to - from <= 1).beside

/**
 * Root that a proof of inclusion gives.
 * @param leaf hash of the leaf
 * @param proof hashes of the ranges that prove the inclusion, from the leaf to the root
 * @returns null for a proof of another length, or a leaf outside the tree
 */
export function rootOfInclusionProof(
  { node }: TreeHasher,
  leaf: Uint8Array,
  { index, size }: { index: number; size: number },
  proof: readonly Uint8Array[],
): Uint8Array | null {
  if (index >= size) return null
  const ranges = inclusionProofRanges(index, size)
  if (ranges.length !== proof.length) return null
  return ranges.reduce(
    (hash, { from }, i) => (from > index ? node(hash, proof[i]!) : node(proof[i]!, hash)),
    leaf,
  )
}

/**
 * Ranges whose hashes prove that a tree begins with an older tree (RFC 6962, section 2.1.2).
 * @param oldSize at least 1
 */
export function consistencyProofRanges(oldSize: number, size: number): LeafRange[] {
  const { beside, end } = descend(oldSize - 1, size, ({ to }) => to <= oldSize)
  // a range from the first leaf on is the whole older tree, whose root the verifier already has
  return end.from > 0 ? [end, ...beside] : beside
}

/**
 * Whether a tree begins with an older tree.
 * @param proof hashes of the ranges that prove it; empty for an older tree without leaves, and for the same tree
 */
export function isConsistencyProofValid(
  { node }: TreeHasher,
  old: { size: number; root: Uint8Array },
  { size, root }: { size: number; root: Uint8Array },
  proof: readonly Uint8Array[],
): boolean {
  if (old.size > size) return false
  if (old.size === 0) return proof.length === 0
  const ranges = consistencyProofRanges(old.size, size)
  if (ranges.length !== proof.length) return false
  const isWhole = ranges[0]?.from !== 0 && ranges[0]?.to === old.size
  const start = isWhole ? proof[0]! : old.root
  let oldRoot = start
  let newRoot = start
  for (let i = isWhole ? 1 : 0; i < ranges.length; i++) {
    const hash = proof[i]!
    if (ranges[i]!.from >= old.size) newRoot = node(newRoot, hash)
    else {
      oldRoot = node(hash, oldRoot)
      newRoot = node(hash, newRoot)
    }
  }
  return isSameHash(oldRoot, old.root) && isSameHash(newRoot, root)
}

export const isSameHash = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i])
