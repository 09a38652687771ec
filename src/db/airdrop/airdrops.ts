import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import type { Airdrop as StoredAirdrop } from '../generated/client.js'
import { nameOfCode } from '../pg/codes.js'
import { inTransaction } from '../pg/pool.js'
import { type DecodedRow, execute, type Queryable, query, readRows } from '../pg/rows.js'

/**
 * States of an airdrop by number in the database. `loaded`: it has no distributor yet. `open`: the distributor is
 * watched. `ended`: no further claim is possible.
 */
export const AIRDROP_STATE = { loaded: 0, open: 1, ended: 2 } as const
type AirdropState = keyof typeof AIRDROP_STATE

/** An airdrop without the counts of its claims, which take long to read. Addresses of contracts are 20 bytes. */
export type AirdropWithoutClaimCounts = Omit<DecodedRow<StoredAirdrop>, 'state'> & {
  state: AirdropState
}

/** An airdrop with the counts of its claims: `seen` in any block, `confirmed` in confirmed blocks only. */
export type Airdrop = AirdropWithoutClaimCounts & { claimed: { seen: number; confirmed: number } }

/** The named fields of an airdrop, as they are once its distributor is set: none is null. */
export type RequiredAirdropFields<Field extends keyof AirdropWithoutClaimCounts> = {
  [Key in Field]: NonNullable<AirdropWithoutClaimCounts[Key]>
}

/** A deployed distributor, as its chain reports it. Addresses are 20 bytes. */
export interface Distributor
  extends RequiredAirdropFields<'label' | 'distributor' | 'token' | 'endsAtS'> {
  /** First block that may hold claims. Undefined: the stored block, or `startBlock` for a new distributor. */
  fromBlock: number | undefined
  /** First block of the chain that is indexed. Default 0. */
  startBlock?: number
}

/** An airdrop can't be changed as requested. The message names the reason and the operator's next step. */
export class AirdropError extends Error {
  override name = 'AirdropError'
}

/** Columns of an airdrop. `SELECT *` would make prepared statements fail once a newer version adds a column. */
export const AIRDROP_COLUMNS = `network, airdrop, community, label, merkle_root, file_hash, leaf_count, total, token,
  distributor, ends_at_s, from_block, next_block, parent_hash, state, created_ms`

export async function findAirdrop(
  db: Queryable,
  network: Network,
  community: string,
): Promise<Airdrop | null> {
  const rows = await readAirdrops(db, [network], community)
  return rows[0] ?? null
}

const LOCK_AIRDROP = 'SELECT FROM airdrops WHERE network = $1 AND community = $2 FOR UPDATE'

/**
 * Like `findAirdrop`, with the airdrop locked until the end of the transaction. Until then, neither other commands nor
 * claims that the indexer stores change it.
 */
export async function lockAirdrop(
  client: pg.ClientBase,
  network: Network,
  community: string,
): Promise<Airdrop | null> {
  await query(client, network, LOCK_AIRDROP, [community])
  return findAirdrop(client, network, community)
}

export const listAirdrops = (db: Queryable, networks: readonly Network[]): Promise<Airdrop[]> =>
  readAirdrops(db, networks, null)

type AirdropRow = DecodedRow<StoredAirdrop> & { seen: number; confirmed: number }

const READ_AIRDROPS = `SELECT ${AIRDROP_COLUMNS}, claims.seen, claims.confirmed
  FROM airdrops a CROSS JOIN LATERAL (
    SELECT count(*) AS seen, count(*) FILTER (WHERE c.confirmed) AS confirmed FROM airdrop_claims c
    WHERE c.network = a.network AND c.airdrop = a.airdrop
  ) claims
  WHERE network = ANY ($1::int2[]) AND ($2::text IS NULL OR community = $2)
  ORDER BY network, community`

/** @param community null for the airdrops of all communities */
async function readAirdrops(
  db: Queryable,
  networks: readonly Network[],
  community: string | null,
): Promise<Airdrop[]> {
  const codes = networks.map((network) => NETWORK_CODE[network])
  const rows = await readRows<AirdropRow>(db, READ_AIRDROPS, [codes, community])
  return rows.map(({ state, seen, confirmed, ...airdrop }) => ({
    ...airdrop,
    state: nameOfCode(AIRDROP_STATE, state),
    claimed: { seen, confirmed },
  }))
}

const SET_DISTRIBUTOR = `UPDATE airdrops SET label = $3, distributor = $4, token = $5, ends_at_s = $6, from_block = $7,
    next_block = $7, parent_hash = NULL, state = ${AIRDROP_STATE.open}
  WHERE network = $1 AND community = $2`

/**
 * Sets the contract that pays an airdrop, and the block from which its claims are indexed.
 * @returns false where the airdrop has this contract and block already
 * @throws AirdropError where the community has no airdrop, or claims were made at another distributor
 */
export async function setDistributor(
  pool: pg.Pool,
  network: Network,
  community: string,
  to: Distributor,
): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const airdrop = await lockAirdrop(client, network, community)
    if (!airdrop) throw new AirdropError(noAirdropText(network, community))
    const isSame = airdrop.distributor?.equals(to.distributor) && airdrop.label === to.label
    const fromBlock = to.fromBlock ?? (isSame ? airdrop.fromBlock : to.startBlock) ?? 0
    if (isSame && fromBlock === airdrop.fromBlock) return false
    if (!isSame && airdrop.claimed.seen > 0)
      throw new AirdropError(alreadyClaimedText(airdrop, 'its distributor stays'))
    const { label, distributor, token, endsAtS } = to
    await execute(client, network, SET_DISTRIBUTOR, [
      community,
      label,
      distributor,
      token,
      endsAtS,
      fromBlock,
    ])
    return true
  })
}

export const noAirdropText = (network: Network, community: string): string =>
  `${network} has no airdrop of "${community}": \`clusterd airdrop list\` shows them.`

export const alreadyClaimedText = (
  { community, claimed }: { community: string; claimed: { seen: number } },
  therefore: string,
): string =>
  `${claimed.seen} of the airdrop of "${community}" ${claimed.seen === 1 ? 'is' : 'are'} claimed already: ${therefore}.`
