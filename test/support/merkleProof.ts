import { keccak256 } from '../../src/registry/primitives/keccak.js'

/** Root that a leaf and its proof lead to, by the rule of OpenZeppelin's `Hashes`: the smaller of two hashes first. */
export const rootOfProof = (leaf: Buffer, proof: readonly Buffer[]): Buffer =>
  proof.reduce(
    (node, sibling) => keccak256(Buffer.concat([node, sibling].sort(Buffer.compare))),
    leaf,
  )
