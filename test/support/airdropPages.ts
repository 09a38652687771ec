import { NODE_BYTES, offsetOf } from '../../src/db/airdrop/pages.js'
import { proofPositions } from '../../src/registry/airdrop/tree.js'

/**
 * Pages that hold the proof of the node at a position, lowest first; the plain definition that `proofSteps` is tested
 * against.
 */
export const proofPages = (position: number): number[] => [
  ...new Set(proofPositions(position).map((node) => offsetOf(node).page)),
]

/**
 * Proof of the node at a position out of whole pages, its sibling first.
 * @throws RangeError if one of `proofPages` is missing or too short
 */
export function proofFromPages(position: number, pages: ReadonlyMap<number, Buffer>): Buffer[] {
  return proofPositions(position).map((node) => {
    const { page, offset } = offsetOf(node)
    const hash = pages.get(page)?.subarray(offset, offset + NODE_BYTES)
    if (hash?.length !== NODE_BYTES) throw new RangeError(`page ${page} lacks node ${node}`)
    return hash
  })
}
