import type { Network } from '../../registry/primitives/network.js'
import { prepare } from '../pg/prepared.js'
import type { Queryable } from '../pg/rows.js'
import { pagesFor, proofFrom } from './pages.js'

const pagesOfAirdrop = prepare<{ page: number; nodes: Buffer }>(
  'airdrop_proof_pages',
  (l) =>
    `SELECT page, nodes FROM airdrop_pages WHERE network = ${l.network} AND airdrop = $1 AND page = ANY($2::int[])`,
)

/**
 * Reads the proofs of leaves from the stored pages, in one statement.
 * @param positions of the leaves in the tree
 * @returns hashes by position, in hex without 0x, the leaf's sibling first
 * @throws RangeError where a page is missing or too short
 */
export async function readAirdropProofs(
  db: Queryable,
  network: Network,
  airdrop: number,
  positions: readonly number[],
): Promise<Map<number, string[]>> {
  const names = pagesFor(positions)
  const rows = names.length === 0 ? [] : await pagesOfAirdrop(db, network, [airdrop, `{${names.join()}}`])
  const pages = new Map(rows.map(({ page, nodes }) => [page, nodes]))
  return new Map(
    positions.map((position) => [position, proofFrom(pages, position).map((hash) => hash.toString('hex'))]),
  )
}
