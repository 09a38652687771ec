import { parentPosition, proofPositions } from '../../registry/airdrop/tree.js'
import type { Network } from '../../registry/primitives/network.js'
import { prepareStatement } from '../journal/partitions.js'
import type { Queryable } from '../pg/rows.js'

/**
 * Number of tree levels in a page, the stored form of an airdrop's tree. A page stores the nodes below its top node,
 * level by level: at most 62 nodes (1,984 bytes), which PostgreSQL keeps in the row. The page's number is the position
 * of the top node, which the page above stores. No page stores the root. A proof in a tree of half a million leaves
 * needs four pages.
 */
const PAGE_LEVELS = 5
const NODE_BYTES = 32

/** Number of the page that stores a node, and the node's offset in the page, bytes. Not for the root. */
function pageAndOffsetOf(position: number): { page: number; offset: number } {
  const depth = 31 - Math.clz32(position + 1)
  const below = ((depth - 1) % PAGE_LEVELS) + 1
  let page = position
  for (let level = 0; level < below; level++) page = parentPosition(page)
  const before = 2 ** below - 2 + (position - ((page + 1) * 2 ** below - 1))
  return { page, offset: before * NODE_BYTES }
}

/**
 * Pages of a tree, by number. The tree's last level fills from the left, so the last nodes of a page may be missing.
 */
export function packTreePages(nodes: readonly Buffer[]): Map<number, Buffer> {
  const parts = new Map<number, Buffer[]>()
  for (let position = 1; position < nodes.length; position++) {
    const { page } = pageAndOffsetOf(position)
    const part = parts.get(page)
    if (part) part.push(nodes[position]!)
    else parts.set(page, [nodes[position]!])
  }
  return new Map([...parts].map(([page, part]) => [page, Buffer.concat(part)]))
}

/** Numbers of the pages that hold the proofs of the nodes at these positions. */
export const pagesWithProofs = (positions: readonly number[]): number[] => [
  ...new Set(
    positions.flatMap((position) =>
      proofPositions(position).map((node) => pageAndOffsetOf(node).page),
    ),
  ),
]

/**
 * The proof of the node at a position: hashes of 32 bytes, the node's sibling first.
 * @throws RangeError where a page is missing or too short
 */
export const proofFromPages = (pages: ReadonlyMap<number, Buffer>, position: number): Buffer[] =>
  proofPositions(position).map((node) => {
    const { page, offset } = pageAndOffsetOf(node)
    const hash = pages.get(page)?.subarray(offset, offset + NODE_BYTES)
    if (hash?.length !== NODE_BYTES) throw new RangeError(`page ${page} does not have node ${node}`)
    return hash
  })

const readPages = prepareStatement<{ page: number; nodes: Buffer }>(
  (l) =>
    `SELECT page, nodes FROM airdrop_pages WHERE network = ${l.network} AND airdrop = $1 AND page = ANY($2::int[])`,
)

/**
 * Proofs of the leaves at these positions, by position: hashes in hex without 0x, the leaf's sibling first.
 * @throws RangeError where a page is missing, or too short for a node of a proof
 */
export async function readAirdropProofs(
  db: Queryable,
  network: Network,
  airdrop: number,
  positions: readonly number[],
): Promise<Map<number, string[]>> {
  const pageNumbers = pagesWithProofs(positions)
  const rows =
    pageNumbers.length === 0 ? [] : await readPages(db, network, airdrop, `{${pageNumbers.join()}}`)
  const pages = new Map(rows.map(({ page, nodes }) => [page, nodes]))
  return new Map(
    positions.map((position) => [
      position,
      proofFromPages(pages, position).map((hash) => hash.toString('hex')),
    ]),
  )
}
