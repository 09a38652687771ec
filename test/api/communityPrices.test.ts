import { getAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  of,
  price,
  RECIPIENT,
  register,
  registerOld,
  TOKEN,
  useCommunities,
} from './communityApi.js'
import { memberOf } from './members.js'

const { world, community } = useCommunities()

describe('a community with several prices', () => {
  it('is paid as the request says, by network and token', async () => {
    const { name } = await community({ prices: [price('1', '5'), price('1', '7', TOKEN)] })
    const alice = await memberOf(world)
    const asked = async (wish: object) =>
      (await register(alice, name, { name: 'alice', ...wish })).body
    for (const wish of [{}, { network: '1' }, { token: 'native' }])
      expect(await asked(wish)).toMatchObject({ price: price('1', '5') })
    // the token's allowance is read from a chain that does not answer
    expect(await asked({ network: '1', token: getAddress(TOKEN) })).toMatchObject({
      error: 'unavailable',
    })
    expect(await asked({ token: RECIPIENT })).toMatchObject({
      status: 400,
      error: 'invalid_chain_id',
    })
    expect(await asked({ token: '0x12' })).toMatchObject({
      status: 400,
      error: 'unsupported_address',
    })
  })
})

describe('a repeated registration', () => {
  it('answers its owner as the first did, and nobody else', async () => {
    const { name, owner } = await community()
    const alice = await memberOf(world)
    const first = await register(alice, name, { name: 'alice' })
    expect(first.status).toBe(200)
    for (const body of [{ name: 'alice' }, { name: 'Alice', walletAddress: alice.address }])
      expect(await register(alice, name, body)).toMatchObject({ status: 200, body: first.body })
    expect(
      await register(owner, name, { name: 'alice', walletAddress: alice.address }),
    ).toMatchObject({ status: 200 })
    const taken = { status: 409, error: 'not_available' }
    expect(of(await register(owner, name, { name: 'alice' }))).toEqual(taken)
    expect(of(await register(await memberOf(world), name, { name: 'alice' }))).toEqual(taken)
    for (const each of ['twice-1', 'twice-2', 'twice-3', 'twice-4', 'twice-5', 'twice']) {
      const all = await Promise.all(
        [1, 2, 3, 4, 5, 6].map(() => register(alice, name, { name: each })),
      )
      expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
    }
    const { items } = (await world.get('/v1/events?orderBy=newest&limit=3')).body
    expect(
      items.filter(({ data }: { data: { name?: string } }) => data.name === 'twice'),
    ).toHaveLength(1)
  })
})

describe('a network that is none of the community', () => {
  it('is refused also where names are free', async () => {
    const wrong = { status: 400, error: 'invalid_chain_id' }
    const free = await community({ startsAt: '2099-01-01T00:00:00Z' }, 'testnet')
    const alice = await memberOf(world)
    for (const chainId of ['zz', '1', 1, 'constructor', '__proto__'])
      expect(
        of(await registerOld(alice, { clusterName: free.name, walletName: 'x', chainId })),
      ).toEqual(wrong)
    const open = await community({}, 'testnet')
    for (const chainId of ['11155111', 17_000, 'solana', '', null, 'undefined'])
      expect(
        (await registerOld(alice, { clusterName: open.name, walletName: 'x', chainId })).status,
      ).toBe(200)
    const { name } = await community()
    expect(of(await register(alice, name, { name: 'x', network: 'zz' }))).toEqual(wrong)
    expect((await register(alice, name, { name: 'x', network: '8453' })).status).toBe(200)
  })
})
