import { keccak256 } from '../primitives/keccak.js'

/**
 * Merkle tree of an airdrop, equal to StandardMerkleTree of `@openzeppelin/merkle-tree` over `[uint256 index, bytes32
 * account, uint256 amount]`, in memory. Half a million leaves take 4 s; that library takes 50 s.
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

// buffers reused synchronously: half a million leaves take 1.5 million hashes
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

/** Most accounts of one airdrop: a tree of them takes 32 MB, its rows about 200. */
export const MAX_LEAVES = 500_000

export const parentOf = (position: number): number => (position - 1) >> 1
const siblingOf = (position: number): number => (position % 2 === 0 ? position - 1 : position + 1)

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

/** Nodes by position; the position of each leaf, in the order that they were given in. */
export interface Tree {
  nodes: readonly Buffer[]
  positions: readonly number[]
}

/** Builds a tree of at least one leaf. */
export function buildTree(leaves: readonly Buffer[]): Tree {
  const last = 2 * leaves.length - 2
  const nodes = new Array<Buffer>(last + 1)
  const positions = new Array<number>(leaves.length)
  const order = leaves.map((_, i) => i).sort((a, b) => Buffer.compare(leaves[a]!, leaves[b]!))
  for (const [rank, i] of order.entries()) {
    positions[i] = last - rank
    nodes[last - rank] = leaves[i]!
  }
  for (let at = leaves.length - 2; at >= 0; at--) nodes[at] = pairHash(nodes[2 * at + 1]!, nodes[2 * at + 2]!)
  return { nodes, positions }
}
