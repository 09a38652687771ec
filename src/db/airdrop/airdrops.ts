import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { AIRDROP_STATE } from '../pg/codes.js'
import { inTransaction } from '../pg/pool.js'
import { type Airdrop, findAirdrop } from './read.js'

/** What an operator sets of an airdrop and how it goes away. Its file is loaded by airdropLoad.ts, its claims are in airdropClaims.ts. */

/** A deployed distributor, as its chain shows it. Addresses are 20 bytes. */
export interface Distributor {
  /** Network label of its chain. */
  label: string
  distributor: Buffer
  token: Buffer
  /** Unix time, seconds. */
  endsAtS: number
  /** Where its claims are looked for first; undefined: as it was, of a new one where the chain's indexing begins. */
  fromBlock: number | undefined
  /** Where the chain's indexing begins; block 0 unless given. */
  startBlock?: number
}

/** What is known of a distributor before it is deployed; undefined: as it was. */
export interface Plan {
  label?: string | undefined
  token?: Buffer | undefined
  endsAtS?: number | undefined
}

/** An airdrop that can't be changed as asked. One sentence, with what to do. */
export class AirdropError extends Error {
  override name = 'AirdropError'
}

/**
 * Names the contract that pays an airdrop, or where its claims are looked for first: they are read from there on.
 * @returns false where that was so already
 * @throws AirdropError where the community has none, or another distributor that was claimed from
 */
export async function setDistributor(
  pool: pg.Pool,
  network: Network,
  community: string,
  to: Distributor,
): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const airdrop = await lockAirdrop(client, network, community)
    const isSame = airdrop.distributor?.equals(to.distributor) && airdrop.label === to.label
    const fromBlock = to.fromBlock ?? (isSame ? airdrop.fromBlock : to.startBlock) ?? 0
    if (isSame && fromBlock === airdrop.fromBlock) return false
    if (!isSame && airdrop.claimed.seen > 0) throw new AirdropError(claimedFrom(airdrop, 'its distributor stays'))
    await client.query(
      `UPDATE airdrops SET label = $3, distributor = $4, token = $5, ends_at = $6, from_block = $7, next_block = $7,
         parent_hash = NULL, state = $8 WHERE network = $1 AND airdrop = $2`,
      [
        ...[NETWORK_CODE[network], airdrop.airdrop, to.label, to.distributor, to.token, to.endsAtS, fromBlock],
        AIRDROP_STATE.open,
      ],
    )
    return true
  })
}

/**
 * Notes what a distributor is to be deployed with.
 * @returns false where that was so already
 * @throws AirdropError where the community has no airdrop, or a distributor already, which has all of that in its code
 */
export async function setPlan(pool: pg.Pool, network: Network, community: string, plan: Plan): Promise<boolean> {
  return inTransaction(pool, async (client) => {
    const { airdrop, ...now } = await lockAirdrop(client, network, community)
    const { label = now.label, token = now.token, endsAtS = now.endsAtS } = plan
    const isSame = label === now.label && endsAtS === now.endsAtS && (token === now.token || now.token?.equals(token!))
    if (isSame) return false
    if (now.distributor)
      throw new AirdropError(
        `The airdrop of "${community}" has a distributor, which has chain, token and end in its code.`,
      )
    await client.query('UPDATE airdrops SET label = $3, token = $4, ends_at = $5 WHERE network = $1 AND airdrop = $2', [
      NETWORK_CODE[network],
      airdrop,
      label,
      token,
      endsAtS,
    ])
    return true
  })
}

/** Removes an airdrop with all that was stored of it. @returns what it was @throws AirdropError where there is none */
export async function removeAirdrop(pool: pg.Pool, network: Network, community: string): Promise<Airdrop> {
  return inTransaction(pool, async (client) => {
    const airdrop = await lockAirdrop(client, network, community)
    await deleteAirdrop(client, airdrop)
    return airdrop
  })
}

/** Deletes a locked airdrop. */
export async function deleteAirdrop(client: pg.ClientBase, { network, airdrop }: Airdrop): Promise<void> {
  for (const table of ['airdrop_claims', 'airdrop_pages', 'airdrop_allocations', 'airdrops']) {
    await client.query(`DELETE FROM ${table} WHERE network = $1 AND airdrop = $2`, [NETWORK_CODE[network], airdrop])
  }
}

/**
 * Holds off claims that are being stored, and other commands, until the transaction ends.
 * @throws AirdropError where there is no airdrop
 */
async function lockAirdrop(client: pg.ClientBase, network: Network, community: string): Promise<Airdrop> {
  await client.query('SELECT FROM airdrops WHERE network = $1 AND community = $2 FOR UPDATE', [
    NETWORK_CODE[network],
    community,
  ])
  const airdrop = await findAirdrop(client, network, community)
  if (!airdrop)
    throw new AirdropError(`${network} has no airdrop of "${community}": \`clusterd airdrop list\` shows them.`)
  return airdrop
}

/** As `lockAirdrop`, null where there is none. */
export async function lockIfThere(client: pg.ClientBase, network: Network, community: string): Promise<Airdrop | null> {
  return (await findAirdrop(client, network, community)) && lockAirdrop(client, network, community)
}

export const claimedFrom = ({ community, claimed }: Airdrop, therefore: string): string =>
  `${claimed.seen} of the airdrop of "${community}" ${claimed.seen === 1 ? 'is' : 'are'} claimed already: ${therefore}.`
