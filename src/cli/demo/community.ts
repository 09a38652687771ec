import { formatEther, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { World, WorldNetwork } from '../../testing/index.js'
import { paint } from '../output.js'
import { apiOf, followStatus, say, send, showEvent, showHolder, step } from './tools.js'

interface Registration {
  clusterName: string
  price?: { network: string; amount: string }
  transactionInfo?: { type: string; transaction: { to: Hex; data: Hex; value: string } }
}

/** Registers a name below the world's free community and pays for one below the paid community, as a wallet would. */
export async function joinCommunities(
  world: World,
  { hub }: WorldNetwork,
  { key, member, testnet }: { key: Hex; member: string; testnet: boolean },
): Promise<void> {
  const account = privateKeyToAccount(key)
  const communities = world.seeds[testnet ? 'testnet' : 'mainnet']?.communities
  if (!communities) return
  const { signIn } = await import('../../testing/signIn.js')
  const ask = apiOf(world.api, testnet, await signIn(world, key))
  const register = (community: string, more: object = {}) =>
    ask<Registration>('POST', `/v1/names/community/${community}/register`, { name: member, ...more })
  const { open, paid } = communities

  say(`${paint('bold', `${open.name}/${member}`)} for ${account.address}, free`)
  await register(open.name)
  await showOwner(world, `${open.name}/${member}`, testnet)
  say('')

  say(`${paint('bold', `${paid.name}/${member}`)} for ${account.address} on network "${hub.network}"`)
  const { price, transactionInfo } = await register(paid.name, { network: hub.network })
  if (!price || !transactionInfo) throw new Error(`The community "${paid.name}" asks no price.`)
  const { transaction } = transactionInfo
  step('price', `${formatEther(BigInt(price.amount))}, held by ${transaction.to} until it is judged`)
  const sentMs = performance.now()
  const tx = await send(hub, account, transaction)
  step('sent', tx)
  await followStatus(world, tx, sentMs, testnet)
  await showOwner(world, `${paid.name}/${member}`, testnet)
  say('')
}

async function showOwner(world: World, name: string, testnet: boolean): Promise<void> {
  await showHolder(world, name, testnet)
  const isOurs = ({ community, name: member }: Record<string, unknown>) => `${community}/${member}` === name
  await showEvent(world, ({ type, data }) => type === 'REGISTER_COMMUNITY_NAME' && isOurs(data), testnet)
}
