import { keccak256 } from '../primitives/keccak.js'

/**
 * Merkle tree of an airdrop, equal to StandardMerkleTree of `@openzeppelin/merkle-tree` over `[uint256 index, bytes32
 * account, uint256 amount]`, built as a stream: sorted leaves come in, finished nodes leave, a few nodes per level
 * stay.
 *
 * Nodes are numbered as in a heap: 0 is the root, 2n+1 and 2n+2 are below n; the last N positions hold the N leaves,
 * the smallest hash last.
 */

/**
 * The leaf of an allocation: keccak256(keccak256(abi.encode(index, account, amount))).
 * @param account as a bytes32 (see addressToWord in address.ts)
 * @param amount in the token's base units
 */
export function airdropLeaf(index: bigint, account: Buffer, amount: bigint): Buffer {
  if (account.length !== 32) throw new RangeError(`an account has 32 bytes, not ${account.length}`)
  // double hash: no leaf equals the pair below an inner node (64 bytes)
  writeWord(leafInput, 0, index)
  leafInput.set(account, 32)
  writeWord(leafInput, 64, amount)
  return keccak256(keccak256(leafInput))
}

// buffers reused synchronously: a million leaves take three million hashes
const leafInput = Buffer.alloc(96)
const pairInput = Buffer.alloc(64)

/** An unsigned integer as a big-endian 32-byte word. Throws RangeError for one that does not fit. */
function writeWord(into: Buffer, offset: number, value: bigint): void {
  // a negative one stays negative, however far it is shifted
  if (value >> 256n !== 0n) throw new RangeError(`${value} does not fit an unsigned 256-bit word`)
  for (let part = 0; part < 4; part++) {
    into.writeBigUInt64BE(BigInt.asUintN(64, value >> BigInt(64 * (3 - part))), offset + 8 * part)
  }
}

export const nodeCount = (leafCount: number): number => 2 * leafCount - 1

/** Position of the leaf of a rank; ranks count from 0, in hash order. */
export const leafPosition = (leafCount: number, rank: number): number => 2 * leafCount - 2 - rank

export const parentOf = (position: number): number => (position - 1) >> 1
export const siblingOf = (position: number): number => (position % 2 === 0 ? position - 1 : position + 1)

/** Positions of the nodes of a proof, the leaf's sibling first. */
export function proofPositions(position: number): number[] {
  const positions: number[] = []
  for (let at = position; at > 0; at = parentOf(at)) positions.push(siblingOf(at))
  return positions
}

/** Parent of two nodes: the smaller hash comes first, so that proofs need no sides (OpenZeppelin's `Hashes`). */
function pairHash(a: Buffer, b: Buffer): Buffer {
  const isAscending = Buffer.compare(a, b) < 0
  pairInput.set(isAscending ? a : b, 0)
  pairInput.set(isAscending ? b : a, 32)
  return keccak256(pairInput)
}

/** Root derived from a leaf and its proof. */
export const rootOfProof = (leaf: Buffer, proof: readonly Buffer[]): Buffer => proof.reduce(pairHash, leaf)

export interface TreeBuilder {
  /** Adds the next leaf, in ascending hash order. @throws RangeError for a repeated, unordered or surplus one */
  add(leaf: Buffer): void
  /** Root of the complete tree. Throws before. */
  root(): Buffer
  /** Number of nodes without their sibling: at most a few per level. */
  waiting(): number
}

/**
 * Builds a tree from its sorted leaves.
 * @param leafCount at least 1 (at most 2^30: positions are 32-bit integers)
 * @param onNode called once per node, leaves and root included, children before their parent
 */
export function createTreeBuilder(
  leafCount: number,
  onNode: (position: number, hash: Buffer) => void = () => {},
): TreeBuilder {
  if (!Number.isInteger(leafCount) || leafCount < 1 || leafCount > 2 ** 30) {
    throw new RangeError(`a tree has 1 to 2^30 leaves, not ${leafCount}`)
  }
  const waiting = new Map<number, Buffer>()
  let previous: Buffer | undefined
  let rank = 0
  let root: Buffer | undefined

  function put(leafAt: number, leaf: Buffer): void {
    let [position, hash] = [leafAt, leaf]
    for (;;) {
      onNode(position, hash)
      if (position === 0) {
        root = hash
        return
      }
      const sibling = waiting.get(siblingOf(position))
      if (!sibling) {
        waiting.set(position, hash)
        return
      }
      waiting.delete(siblingOf(position))
      hash = pairHash(hash, sibling)
      position = parentOf(position)
    }
  }

  return {
    add(leaf) {
      if (rank >= leafCount) throw new RangeError(`the tree has its ${leafCount} leaves`)
      if (previous && Buffer.compare(previous, leaf) >= 0) throw new RangeError(`leaf ${rank} is not in order`)
      previous = leaf
      put(leafPosition(leafCount, rank++), leaf)
    },
    root() {
      if (!root) throw new RangeError(`the tree has ${rank} of its ${leafCount} leaves`)
      return root
    },
    waiting: () => waiting.size,
  }
}
