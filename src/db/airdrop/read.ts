import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { BYTEA_OID, binaryArray } from '../pg/binaryArray.js'
import { AIRDROP_STATE, type AirdropState, wordOf } from '../pg/codes.js'
import { prepare } from '../pg/prepared.js'
import { type Queryable, query, readRows } from '../pg/rows.js'
import { NODE_BYTES, PAGE_LEVELS, type ProofStep, proofSteps } from './pages.js'

/** What a community gives out. Addresses of contracts are 20 bytes. */
export interface Airdrop {
  network: Network
  /** Its number in the database. */
  airdrop: number
  /** Canonical name. */
  community: string
  /** Network label of the chain that it is paid on. */
  label: string
  merkleRoot: Buffer
  fileHash: Buffer
  leafCount: number
  /** The token's base units. */
  total: bigint
  token: Buffer | null
  distributor: Buffer | null
  /** Unix time, seconds: no claim is taken from then on. */
  endsAtS: number | null
  state: AirdropState
  /** Where the distributor's claims are looked for first; null without one. */
  fromBlock: number | null
  /** Of the distributor's claims all before this block are believed and stored; null without one. */
  nextBlock: number | null
  createdMs: number
  /** Allocations whose claim was seen on chain, and those of them whose claim is confirmed. */
  claimed: { seen: number; confirmed: number }
}

interface AirdropRow extends Omit<OpenAirdrop, 'network' | 'state'> {
  network: number
  state: number
}

const COLUMNS = `d.network, d.airdrop, d.community, d.label, d.merkle_root, d.file_hash, d.leaf_count, d.total, d.token,
  d.distributor, d.ends_at AS ends_at_s, d.state, d.from_block, d.next_block, d.created_ms`
const COUNTED = `SELECT ${COLUMNS}, c.seen, c.confirmed FROM airdrops d CROSS JOIN LATERAL (
  SELECT count(*) AS seen, count(*) FILTER (WHERE confirmed) AS confirmed FROM airdrop_claims
  WHERE network = d.network AND airdrop = d.airdrop) c`

/** The airdrop of a community, null where it has none. */
export async function findAirdrop(db: Queryable, network: Network, community: string): Promise<Airdrop | null> {
  const sql = `${COUNTED} WHERE d.network = $1 AND d.community = $2`
  const [row] = await query<CountedRow>(db, network, sql, [community])
  return row ? counted(row) : null
}

/** The airdrops of these networks, by network and community. */
export async function listAirdrops(db: Queryable, networks: readonly Network[]): Promise<Airdrop[]> {
  const sql = `${COUNTED} WHERE d.network = ANY($1) ORDER BY d.network, d.community`
  const rows = await readRows<CountedRow>(db, sql, [networks.map((network) => NETWORK_CODE[network])])
  return rows.map(counted)
}

type CountedRow = AirdropRow & Airdrop['claimed']

const counted = ({ seen, confirmed, ...row }: CountedRow): Airdrop => ({
  ...airdropOf(row),
  claimed: { seen, confirmed },
})

const airdropOf = (row: AirdropRow): OpenAirdrop => ({
  ...row,
  network: wordOf(NETWORK_CODE, row.network),
  state: wordOf(AIRDROP_STATE, row.state),
})

/** An airdrop as claims are answered from it: without counts, which would be counted for each answer. */
export type OpenAirdrop = Omit<Airdrop, 'claimed'>

const byCommunity = prepare<AirdropRow>(
  'airdrop',
  (l) => `SELECT ${COLUMNS} FROM airdrops d WHERE d.network = ${l.network} AND d.community = $1`,
)

/** The airdrop of a community for the hot path, null where it has none. */
export async function findOpenAirdrop(db: Queryable, network: Network, community: string): Promise<OpenAirdrop | null> {
  const [row] = await byCommunity(db, network, [community])
  return row ? airdropOf(row) : null
}

/** A wallet that is verified in the caller's bundle, with what an airdrop gives it. */
export interface BundleWallet {
  /** Stored address. */
  address: Buffer
  isPrivate: boolean
  allocation: Allocation | null
}

export interface Allocation {
  index: number
  /** Where its leaf stands in the tree. */
  position: number
  amount: bigint
  /** Seen on chain; `isConfirmed`: and believed. */
  claim: { tx: Buffer; isConfirmed: boolean } | null
}

interface WalletRow extends Omit<BundleWallet, 'allocation'> {
  index: number | null
  position: number
  amount: bigint
  tx: Buffer | null
  isConfirmed: boolean
}

// A wallet is verified in one cluster at most; only what is verified there is proven to belong together.
const bundle = prepare<WalletRow>(
  'airdrop_bundle',
  (
    l,
  ) => `SELECT w.address, w.private AS is_private, a.index, a.position, a.amount, c.tx_hash AS tx, c.confirmed AS is_confirmed
    FROM ${l.wallets} me
    JOIN ${l.wallets} w ON w.network = ${l.network} AND w.cluster = me.cluster AND w.verified
    LEFT JOIN airdrop_allocations a ON a.network = ${l.network} AND a.airdrop = $2 AND a.account = w.address
    LEFT JOIN airdrop_claims c ON c.network = ${l.network} AND c.airdrop = $2 AND c.index = a.index
    WHERE me.network = ${l.network} AND me.address = $1 AND me.verified
    ORDER BY w.created_seq, w.address`,
)

/**
 * The wallets that are verified in the bundle in which `viewer` is, private ones too, oldest first, with what an airdrop gives
 * them. Empty when `viewer` (a stored address) is verified nowhere.
 */
export async function findBundleAllocations(
  db: Queryable,
  network: Network,
  airdrop: number,
  viewer: Buffer,
): Promise<BundleWallet[]> {
  const rows = await bundle(db, network, [viewer, airdrop])
  return rows.map(({ address, isPrivate, index, position, amount, tx, isConfirmed }) => ({
    address,
    isPrivate,
    allocation: index === null ? null : { index, position, amount, claim: tx && { tx, isConfirmed } },
  }))
}

/** A step's slots in one integer, six bits each; where it has fewer than a page has levels, a slot behind every page's end. */
const SLOT_BITS = 6
const NO_SLOT = 2 ** SLOT_BITS - 1
const codeOf = ({ slots }: ProofStep): number =>
  Array.from({ length: PAGE_LEVELS }, (_, i) => slots[i] ?? NO_SLOT).reduceRight((code, slot) => code * 64 + slot, 0)
const NODE_AT = Array.from(
  { length: PAGE_LEVELS },
  (_, i) => `substring(a.nodes FROM ((p.code >> ${i * SLOT_BITS}) & ${NO_SLOT}) * ${NODE_BYTES} + 1 FOR ${NODE_BYTES})`,
)

// Of a page's 62 nodes a proof takes five: cut out there, a tenth of the bytes travels.
const steps = prepare<{ n: number; nodes: string }>(
  'airdrop_proof_steps',
  (l) => `SELECT p.n::int, encode(${NODE_AT.join(' || ')}, 'hex') AS nodes
    FROM unnest($2::int[], $3::int[]) WITH ORDINALITY p (page, code, n)
    JOIN airdrop_pages a ON a.network = ${l.network} AND a.airdrop = $1 AND a.page = p.page`,
)

const HASH_CHARS = 2 * NODE_BYTES
/** As PostgreSQL writes it; the driver would quote every element. */
const intArray = (values: readonly number[]): string => `{${values.join()}}`

/**
 * The proofs of leaves, out of the stored pages, in one question.
 * @param positions where the leaves stand in the tree
 * @returns by position: hashes in hex without 0x, the leaf's sibling first
 * @throws RangeError where a page is missing or too short
 */
export async function readAirdropProofs(
  db: Queryable,
  network: Network,
  airdrop: number,
  positions: readonly number[],
): Promise<Map<number, string[]>> {
  // ways meet towards the root: each step is asked for once
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

/** Whose claims are asked for: of a bundle, or of wallets (stored addresses). */
export type ClaimQuestion = { network: Network; community: string } & (
  | { clusterId: Buffer }
  | { wallets: readonly Buffer[] }
)

const claimedAmong = (network: number, accounts: string): string => `SELECT EXISTS (
  SELECT FROM airdrops d
  JOIN airdrop_allocations a ON a.network = d.network AND a.airdrop = d.airdrop AND a.account IN (${accounts})
  JOIN airdrop_claims c ON c.network = d.network AND c.airdrop = d.airdrop AND c.index = a.index AND c.confirmed
  WHERE d.network = ${network} AND d.community = $1) AS claimed`

const claimedByBundle = prepare<{ claimed: boolean }>('airdrop_claimed_by_bundle', (l) =>
  claimedAmong(
    l.network,
    `SELECT w.address FROM ${l.clusters} k JOIN ${l.wallets} w ON w.network = ${l.network} AND w.cluster = k.serial
     WHERE k.network = ${l.network} AND k.id = $2 AND w.verified`,
  ),
)

const claimedByWallets = prepare<{ claimed: boolean }>('airdrop_claimed_by_wallets', (l) =>
  claimedAmong(l.network, 'SELECT unnest($2::bytea[])'),
)

/**
 * Whether an allocation of a community's airdrop was claimed, confirmed on its chain, for any wallet that is verified in a
 * bundle now (by its id), or for any of these wallets. False where the community has no airdrop.
 */
export async function hasClaimed(db: Queryable, question: ClaimQuestion): Promise<boolean> {
  const { network, community } = question
  if ('wallets' in question && question.wallets.length === 0) return false
  const [row] =
    'clusterId' in question
      ? await claimedByBundle(db, network, [community, question.clusterId])
      : await claimedByWallets(db, network, [community, binaryArray(BYTEA_OID, question.wallets)])
  return row?.claimed ?? false
}
