import { afterAll, expect } from 'vitest'
import { type Member, memberOf } from './members.js'
import {
  type ApiWorldOptions,
  bid,
  expectReplayed,
  freshName,
  START_MS,
  useApi,
} from './support.js'

export const PAYMENTS = `0x${'77'.repeat(20)}` as const
export const TOKEN = `0x${'66'.repeat(20)}`
export const RECIPIENT = `0x${'55'.repeat(20)}`
const ON = { mainnet: '', testnet: '?testnet=true' }

/** World for a file's tests of communities. Its journals are replayed at the end. Its chains do not answer. */
export function useCommunities(
  options: Pick<ApiWorldOptions, 'rpcUrls' | 'limits' | 'ens' | 'otherChains'> = {},
) {
  let registered = 0
  const world = useApi({
    ...options,
    shareKeys: [Buffer.alloc(32, 5)],
    configs: (configs) => configs.map((config) => ({ ...config, communityPayments: PAYMENTS })),
  })
  afterAll(async () => {
    for (const network of ['mainnet', 'testnet'] as const) await expectReplayed(world, network)
  })

  /** Wallet that has registered a name on a network. */
  async function ownerOf(
    name: string,
    network: 'mainnet' | 'testnet' = 'mainnet',
  ): Promise<Member> {
    const owner = await memberOf(world)
    registered += 1
    const at = { block: 10_000 + registered, atMs: START_MS + registered }
    await world.append(network, [bid({ from: owner.address, name, ...at })])
    return owner
  }

  /** Community with its rules, and the wallet whose cluster holds it. */
  async function community(rules: object = {}, network: 'mainnet' | 'testnet' = 'mainnet') {
    const name = freshName()
    const owner = await ownerOf(name, network)
    const reply = await owner.call('PUT', `/v1/communities/${name}${ON[network]}`, rules)
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
    return { name, owner }
  }
  return { world, ownerOf, community }
}
