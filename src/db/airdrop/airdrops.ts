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

/** An airdrop that can't be changed as asked. One sentence, with what to do. */
export class AirdropError extends Error {
  override name = 'AirdropError'
}

/**
 * The airdrop of a community, null where it has none.
 * @param lock holds off claims and other commands until the transaction ends
 */
export async function findAirdrop(
  db: Queryable,
  network: Network,
  community: string,
  lock: '' | 'FOR UPDATE' = '',
): Promise<Airdrop | null> {
  if (lock)
    await execute(db, network, `SELECT FROM airdrops WHERE network = $1 AND community = $2 ${lock}`, [community])
  return (await read(db, network, 'AND a.community = $2', [community]))[0] ?? null
}

/** Airdrops of these networks, by network and community. */
export async function listAirdrops(db: Queryable, networks: readonly Network[]): Promise<Airdrop[]> {
  return (await Promise.all(networks.map((network) => read(db, network)))).flat()
}

async function read(db: Queryable, network: Network, filter = '', values: readonly unknown[] = []): Promise<Airdrop[]> {
  const rows = await query<Plain<StoredAirdrop> & Airdrop['claimed']>(
    db,
    network,
    `SELECT a.*, c.* FROM airdrops a CROSS JOIN LATERAL (
       SELECT count(*) AS seen, count(*) FILTER (WHERE confirmed) AS confirmed
       FROM airdrop_claims WHERE network = a.network AND airdrop = a.airdrop) c
     WHERE a.network = $1 ${filter} ORDER BY a.community`,
    values,
  )
  return rows.map(({ seen, confirmed, ...row }) => ({
    ...row,
    network,
    state: wordOf(AIRDROP_STATE, row.state),
    claimed: { seen, confirmed },
  }))
}

/**
 * Sets the contract that pays an airdrop, and the block from which its claims are indexed.
 * @returns false where nothing changed
 * @throws AirdropError where the community has none, or another distributor that was claimed from
 */
export function setDistributor(pool: pg.Pool, network: Network, community: string, to: Distributor): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const airdrop = await findAirdrop(client, network, community, 'FOR UPDATE')
    if (!airdrop) throw new AirdropError(noAirdrop(network, community))
    const isSame = airdrop.distributor?.equals(to.distributor) && airdrop.label === to.label
    const fromBlock = to.fromBlock ?? (isSame ? airdrop.fromBlock : to.startBlock) ?? 0
    if (isSame && fromBlock === airdrop.fromBlock) return false
    if (!isSame && airdrop.claimed.seen > 0) throw new AirdropError(claimedFrom(airdrop, 'its distributor stays'))
    const text = `UPDATE airdrops SET label = $3, distributor = $4, token = $5, ends_at_s = $6, from_block = $7,
        next_block = $7, parent_hash = NULL, state = ${AIRDROP_STATE.open} WHERE network = $1 AND airdrop = $2`
    const { label, distributor, token, endsAtS } = to
    await execute(client, network, text, [airdrop.airdrop, label, distributor, token, endsAtS, fromBlock])
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
