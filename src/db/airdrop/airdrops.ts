import type pg from 'pg'
import type { Network } from '../../registry/primitives/network.js'
import type { Airdrop as StoredAirdrop } from '../generated/client.js'
import { AIRDROP_STATE, type AirdropState, wordOf } from '../pg/codes.js'
import { inTransaction } from '../pg/pool.js'
import { execute, type Plain, type Queryable, query } from '../pg/rows.js'

/** Airdrops as an operator lists and changes them; load.ts loads and removes them, answers.ts holds the hot reads. */

/** An airdrop without its counts, which would cost a count per answer. Addresses of contracts are 20 bytes. */
export type OpenAirdrop = Omit<Plain<StoredAirdrop>, 'state'> & { state: AirdropState }

/** An airdrop with its claimed allocations: seen on chain, and confirmed among them. */
export type Airdrop = OpenAirdrop & { claimed: { seen: number; confirmed: number } }

/** A deployed distributor, as its chain shows it. Addresses are 20 bytes. */
export interface Distributor {
  /** Network label of its chain. */
  label: string
  distributor: Buffer
  token: Buffer
  /** Unix time, seconds. */
  endsAtS: number
  /** First block that may hold its claims; undefined: unchanged, and `startBlock` for a new distributor. */
  fromBlock: number | undefined
  /** First block that the chain is indexed from; 0 unless given. */
  startBlock?: number
}

/** Parameters of a distributor that is not deployed yet; undefined leaves one unchanged. */
export interface Plan {
  label?: string | undefined
  token?: Buffer | undefined
  endsAtS?: number | undefined
}

/** An airdrop that can't be changed as asked. One sentence, with what to do. */
export class AirdropError extends Error {
  override name = 'AirdropError'
}

export const AIRDROP_COLUMNS = `airdrop, community, label, merkle_root, file_hash, leaf_count, total, token, distributor,
  ends_at_s, from_block, next_block, parent_hash, state, created_ms`

/** A row of those columns. */
export type AirdropRow = Omit<OpenAirdrop, 'network' | 'state'> & { state: number }

export const airdropOf = (network: Network, row: AirdropRow): OpenAirdrop => ({
  ...row,
  network,
  state: wordOf(AIRDROP_STATE, row.state),
})

/** The airdrop of a community, null where it has none. */
export async function findAirdrop(db: Queryable, network: Network, community: string): Promise<Airdrop | null> {
  return (await read(db, network, community))[0] ?? null
}

/** Airdrops of these networks, by network and community. */
export const listAirdrops = async (db: Queryable, networks: readonly Network[]): Promise<Airdrop[]> =>
  (await Promise.all(networks.map((network) => read(db, network, null)))).flat()

async function read(db: Queryable, network: Network, community: string | null): Promise<Airdrop[]> {
  const text = `SELECT ${AIRDROP_COLUMNS}, c.seen, c.confirmed FROM airdrops a CROSS JOIN LATERAL (
      SELECT count(*) AS seen, count(*) FILTER (WHERE confirmed) AS confirmed FROM airdrop_claims c
      WHERE c.network = a.network AND c.airdrop = a.airdrop) c
    WHERE a.network = $1 AND ($2::text IS NULL OR a.community = $2) ORDER BY a.community`
  const rows = await query<AirdropRow & Airdrop['claimed']>(db, network, text, [community])
  return rows.map(({ seen, confirmed, ...row }) => ({ ...airdropOf(network, row), claimed: { seen, confirmed } }))
}

/** The same, locked: neither claims nor other commands change it until the transaction ends. */
export async function lockAirdrop(client: pg.ClientBase, network: Network, community: string): Promise<Airdrop | null> {
  const lock = 'SELECT FROM airdrops WHERE network = $1 AND community = $2 FOR UPDATE'
  await execute(client, network, lock, [community])
  return findAirdrop(client, network, community)
}

/**
 * Sets the contract that pays an airdrop, and the block from which its claims are indexed.
 * @returns false where nothing changed
 * @throws AirdropError where the community has none, or another distributor that was claimed from
 */
export async function setDistributor(
  pool: pg.Pool,
  network: Network,
  community: string,
  to: Distributor,
): Promise<boolean> {
  return change(pool, network, community, (airdrop) => {
    const isSame = airdrop.distributor?.equals(to.distributor) && airdrop.label === to.label
    const fromBlock = to.fromBlock ?? (isSame ? airdrop.fromBlock : to.startBlock) ?? 0
    if (isSame && fromBlock === airdrop.fromBlock) return null
    if (!isSame && airdrop.claimed.seen > 0) throw new AirdropError(claimedFrom(airdrop, 'its distributor stays'))
    const { label, distributor, token, endsAtS } = to
    const checkpoint = { fromBlock, nextBlock: fromBlock, parentHash: null }
    return { label, distributor, token, endsAtS, ...checkpoint, state: 'open' }
  })
}

/**
 * Sets what a distributor is to be deployed with.
 * @returns false where nothing changed
 * @throws AirdropError where the community has no airdrop, or one with a distributor, which has all of that in its code
 */
export async function setPlan(pool: pg.Pool, network: Network, community: string, plan: Plan): Promise<boolean> {
  return change(pool, network, community, (now) => {
    const { label = now.label, token = now.token, endsAtS = now.endsAtS } = plan
    const isSame = label === now.label && endsAtS === now.endsAtS && (token === now.token || now.token?.equals(token!))
    if (isSame) return null
    if (now.distributor)
      throw new AirdropError(
        `The airdrop of "${community}" has a distributor, which has chain, token and end in its code.`,
      )
    return { label, token, endsAtS }
  })
}

/**
 * Changes a locked airdrop.
 * @param decide returns the changed fields, or null where nothing changes
 * @returns whether anything changed
 * @throws AirdropError where the community has no airdrop
 */
function change(
  pool: pg.Pool,
  network: Network,
  community: string,
  decide: (airdrop: Airdrop) => Partial<OpenAirdrop> | null,
): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const airdrop = await lockAirdrop(client, network, community)
    if (!airdrop) throw new AirdropError(noAirdrop(network, community))
    const changed = decide(airdrop)
    if (!changed) return false
    const { label, token, distributor, endsAtS, fromBlock, nextBlock, parentHash, state } = { ...airdrop, ...changed }
    const text = `UPDATE airdrops SET label = $3, token = $4, distributor = $5, ends_at_s = $6, from_block = $7,
        next_block = $8, parent_hash = $9, state = $10 WHERE network = $1 AND airdrop = $2`
    const values = [label, token, distributor, endsAtS, fromBlock, nextBlock, parentHash, AIRDROP_STATE[state]]
    await execute(client, network, text, [airdrop.airdrop, ...values])
    return true
  })
}

export const noAirdrop = (network: Network, community: string): string =>
  `${network} has no airdrop of "${community}": \`clusterd airdrop list\` shows them.`

export const claimedFrom = (
  { community, claimed }: { community: string; claimed: { seen: number } },
  therefore: string,
): string =>
  `${claimed.seen} of the airdrop of "${community}" ${claimed.seen === 1 ? 'is' : 'are'} claimed already: ${therefore}.`
