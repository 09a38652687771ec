import type { Network } from '../../registry/primitives/network.js'
import { prepare } from '../pg/prepared.js'
import type { Queryable } from '../pg/rows.js'
import { NODE_BYTES, PAGE_LEVELS, type ProofStep, proofSteps } from './pages.js'

/** Slots of a step in one integer, six bits each; a missing slot points behind the end of every page. */
const SLOT_BITS = 6
const NO_SLOT = 2 ** SLOT_BITS - 1
const codeOf = ({ slots }: ProofStep): number =>
  Array.from({ length: PAGE_LEVELS }, (_, i) => slots[i] ?? NO_SLOT).reduceRight((code, slot) => code * 64 + slot, 0)
const NODE_AT = Array.from(
  { length: PAGE_LEVELS },
  (_, i) => `substring(a.nodes FROM ((p.code >> ${i * SLOT_BITS}) & ${NO_SLOT}) * ${NODE_BYTES} + 1 FOR ${NODE_BYTES})`,
)

// The server cuts out the five of 62 nodes that a proof takes, a tenth of the page's bytes.
const steps = prepare<{ n: number; nodes: string }>(
  'airdrop_proof_steps',
  (l) => `SELECT p.n::int, encode(${NODE_AT.join(' || ')}, 'hex') AS nodes
    FROM unnest($2::int[], $3::int[]) WITH ORDINALITY p (page, code, n)
    JOIN airdrop_pages a ON a.network = ${l.network} AND a.airdrop = $1 AND a.page = p.page`,
)

const HASH_CHARS = 2 * NODE_BYTES
/** Array literal of PostgreSQL; the driver's form quotes every element. */
const intArray = (values: readonly number[]): string => `{${values.join()}}`

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
  // paths meet towards the root: each step is read once
  const numbers = new Map<string, number>()
  const asked = { pages: [] as number[], codes: [] as number[] }
  const ways = positions.map((position) => ({
    position,
    way: proofSteps(position).map((step) => {
      const code = codeOf(step)
      const key = `${step.page}/${code}`
      const known = numbers.get(key)
      const number = known ?? numbers.size
      if (known === undefined) {
        numbers.set(key, number)
        asked.pages.push(step.page)
        asked.codes.push(code)
      }
      return { number, count: step.slots.length, page: step.page }
    }),
  }))
  const found: string[] = []
  if (numbers.size > 0) {
    const rows = await steps(db, network, [airdrop, intArray(asked.pages), intArray(asked.codes)])
    for (const { n, nodes } of rows) found[n - 1] = nodes
  }
  const hashesOf = ({ number, count, page }: { number: number; count: number; page: number }): string[] => {
    const nodes = found[number]
    if (nodes?.length !== HASH_CHARS * count) throw new RangeError(`page ${page} lacks nodes of a proof`)
    return Array.from({ length: count }, (_, i) => nodes.slice(i * HASH_CHARS, (i + 1) * HASH_CHARS))
  }
  return new Map(ways.map(({ position, way }) => [position, way.flatMap(hashesOf)]))
}
