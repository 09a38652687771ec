import { parseEther } from 'viem'
import type { Network } from '../registry/primitives/network.js'
import { ask, signIn } from './signIn.js'
import { lowerCase, operatorAccount, type SeedCommunities, seedAdmin, type WorldNetwork } from './world.js'

/** Names that `accounts.evm[0]` holds on each network. */
export const OPEN_COMMUNITY = 'club'
export const PAID_COMMUNITY = 'guild'

/** Prices of a name below the paid community: 0.001 of a chain's coin, 5 of the token with 18 decimals, 0.01 SOL. */
const COIN_AMOUNT = parseEther('0.001')
const TOKEN_AMOUNT = parseEther('5')
const LAMPORTS = 10_000_000n

/**
 * Makes both names communities unless they are: one free for everybody, one paid on every chain of the network, in
 * coins and, on the hub, also in its token.
 * @returns undefined where `accounts.evm[0]` doesn't hold the names
 */
export async function seedCommunities(
  at: { api: string },
  network: Network,
  chains: WorldNetwork,
  solanaRecipient: string | undefined,
): Promise<SeedCommunities | undefined> {
  const admin = seedAdmin()
  const recipient = lowerCase(operatorAccount('treasurer').address)
  const prices = pricesOf(chains, recipient, solanaRecipient)
  const query = network === 'testnet' ? '?testnet=true' : ''
  const owned = await Promise.all([OPEN_COMMUNITY, PAID_COMMUNITY].map((name) => ownerOf(at, name, query)))
  if (owned.some((owner) => owner !== admin.address)) return undefined
  const token = await signIn(at, admin.privateKey)
  for (const [name, rules] of [
    [OPEN_COMMUNITY, {}],
    [PAID_COMMUNITY, { prices }],
  ] as const) {
    await ask(at.api, `/v1/communities/${name}${query}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${token}` },
      body: JSON.stringify(rules),
    })
  }
  return { admin: admin.address, open: { name: OPEN_COMMUNITY }, paid: { name: PAID_COMMUNITY, prices } }
}

async function ownerOf(at: { api: string }, name: string, query: string): Promise<string | undefined> {
  const body = JSON.stringify([{ name }])
  const [found] = await ask<{ address: string }[]>(at.api, `/v1/names${query}`, { method: 'POST', body })
  return found?.address
}

function pricesOf({ hub, spokes, solana }: WorldNetwork, recipient: string, solanaRecipient: string | undefined) {
  const inCoin = [hub, ...spokes].map(({ network }) => price(network, 'native', COIN_AMOUNT, recipient))
  const inToken = price(hub.network, hub.contracts.token, TOKEN_AMOUNT, recipient)
  const inSol = solana && solanaRecipient ? [price('solana', 'native', LAMPORTS, solanaRecipient)] : []
  return [...inCoin, inToken, ...inSol]
}

const price = (network: string, token: string, amount: bigint, recipient: string) => ({
  network,
  token,
  amount: amount.toString(),
  recipient,
})
