import { parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { Client } from '../client/client.js'
import type { Network } from '../registry/primitives/network.js'
import type { LocalNonEvmChain } from './nonEvmChain.js'
import {
  lowerCaseAddress,
  operatorAccount,
  type SeedCommunities,
  type SeedCommunityPrice,
  seededCommunityOwner,
  type WorldNetwork,
} from './world.js'

/** Community whose names are free. `accounts.evm[0]` holds its name on each network. */
export const OPEN_COMMUNITY_NAME = 'club'
/** Community whose names are paid. `accounts.evm[0]` holds its name on each network. */
export const PAID_COMMUNITY_NAME = 'guild'

/** Price of a name of the paid community in a chain's gas token, wei. */
const COIN_PRICE = String(parseEther('0.001'))
/** Price of a name of the paid community in the hub's local token, base units (18 decimals). */
const TOKEN_PRICE = String(parseEther('5'))

/**
 * Makes the names `club` and `guild` communities. Names of `club` are free for everybody. Names of `guild` are paid
 * for, on every chain of the network in the chain's coin, and on the hub also in the local token.
 * @returns undefined where `accounts.evm[0]` does not hold the names
 */
export async function seedCommunities(
  at: { api: string },
  network: Network,
  chains: WorldNetwork,
  nonEvmChains: readonly LocalNonEvmChain[],
): Promise<SeedCommunities | undefined> {
  const admin = seededCommunityOwner()
  const recipient = lowerCaseAddress(operatorAccount('treasurer').address)
  const prices = [...pricesOf(chains, recipient), ...nonEvmChains.map(({ price }) => price)]
  const client = new Client({ url: at.api, testnet: network === 'testnet' })
  const owned = await client.addressesOf([OPEN_COMMUNITY_NAME, PAID_COMMUNITY_NAME])
  if (owned.length < 2 || owned.some(({ address }) => address !== admin.address)) return undefined
  await client.signIn(privateKeyToAccount(admin.privateKey))
  const set = (name: string, body: { prices?: typeof prices }) =>
    client.request('PUT', '/v1/communities/{name}', { params: { name }, body })
  await set(OPEN_COMMUNITY_NAME, {})
  await set(PAID_COMMUNITY_NAME, { prices })
  return {
    admin: admin.address,
    open: { name: OPEN_COMMUNITY_NAME },
    paid: { name: PAID_COMMUNITY_NAME, prices },
  }
}

function pricesOf({ hub, spokes }: WorldNetwork, recipient: string): SeedCommunityPrice[] {
  const inCoin = [hub, ...spokes].map(({ network }) => ({
    network,
    token: 'native',
    amount: COIN_PRICE,
    recipient,
  }))
  const { network, contracts } = hub
  return [...inCoin, { network, token: contracts.token, amount: TOKEN_PRICE, recipient }]
}
