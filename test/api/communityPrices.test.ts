import { setTimeout as sleep } from 'node:timers/promises'
import { getAddress } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { RECIPIENT, TOKEN, useCommunities } from './communityApi.js'
import { type Member, memberOf } from './members.js'
import { freshName, type Reply } from './support.js'

const { world, community, ownerOf } = useCommunities()

describe('a community with several prices', () => {
  const native = { network: '1', token: 'native', amount: '5', recipient: RECIPIENT }
  let name: string
  let alice: Member
  beforeAll(async () => {
    name = (
      await community({
        prices: [native, { network: '1', token: TOKEN, amount: '7', recipient: RECIPIENT }],
      })
    ).name
    alice = await memberOf(world)
  })

  it.each([
    { case: 'nothing', asked: {}, answer: { price: native } },
    { case: 'a network', asked: { network: '1' }, answer: { price: native } },
    { case: 'the native token', asked: { token: 'native' }, answer: { price: native } },
    {
      case: 'a token whose allowance a chain that does not answer has',
      asked: { network: '1', token: getAddress(TOKEN) },
      answer: { error: 'unavailable' },
    },
    {
      case: 'a token of no price',
      asked: { token: RECIPIENT },
      answer: { status: 400, error: 'invalid_chain_id' },
    },
    {
      case: 'a token that is no address',
      asked: { token: '0x12' },
      answer: { status: 400, error: 'unsupported_address' },
    },
  ])('is paid as the request asks: $case', async ({ asked, answer }) => {
    const { body } = await alice.call('POST', `/v1/names/community/${name}/register`, {
      name: 'alice',
      ...asked,
    })
    expect(body).toMatchObject(answer)
  })
})

describe('a repeated registration', () => {
  let name: string
  let owner: Member
  let alice: Member
  let stranger: Member
  let first: Reply
  beforeAll(async () => {
    const made = await community()
    name = made.name
    owner = made.owner
    alice = await memberOf(world)
    stranger = await memberOf(world)
    first = await alice.call('POST', `/v1/names/community/${name}/register`, { name: 'alice' })
    expect(first.status).toBe(200)
  })

  it.each([
    { form: 'the same name', body: () => ({ name: 'alice' }) },
    {
      form: 'another case, for the wallet itself',
      body: () => ({ name: 'Alice', walletAddress: alice.address }),
    },
  ])('gets the same response for its owner: $form', async ({ body }) => {
    expect(await alice.call('POST', `/v1/names/community/${name}/register`, body())).toMatchObject({
      status: 200,
      body: first.body,
    })
  })

  it('is accepted from an owner of the community, for the same wallet', async () => {
    const body = { name: 'alice', walletAddress: alice.address }
    expect(await owner.call('POST', `/v1/names/community/${name}/register`, body)).toMatchObject({
      status: 200,
    })
  })

  it.each([
    { who: 'the owner of the community for itself', as: () => owner },
    { who: 'a stranger', as: () => stranger },
  ])('is refused: $who', async ({ as }) => {
    const taken = { status: 409, body: { error: 'not_available' } }
    expect(
      await as().call('POST', `/v1/names/community/${name}/register`, { name: 'alice' }),
    ).toMatchObject(taken)
  })

  it.each(['twice-1', 'twice-2', 'twice-3', 'twice-4', 'twice-5', 'twice'])(
    'sent six times at once makes one event: %s',
    async (fresh) => {
      const all = await Promise.all(
        [1, 2, 3, 4, 5, 6].map(() =>
          alice.call('POST', `/v1/names/community/${name}/register`, { name: fresh }),
        ),
      )
      expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
      const { items } = (await world.get('/v1/events?orderBy=newest&limit=3')).body
      const ofName = items.filter(({ data }: { data: { name?: string } }) => data.name === fresh)
      expect(ofName).toHaveLength(1)
    },
  )
})

describe('the network of a registration in a free community', () => {
  const wrong = { status: 400, body: { error: 'invalid_chain_id' } }
  let alice: Member
  /** Communities on testnet, for v0.1: one that opens later, and an open one. */
  let later: string
  let open: string
  /** Community on mainnet. */
  let name: string
  beforeAll(async () => {
    alice = await memberOf(world)
    later = (await community({ startsAt: '2099-01-01T00:00:00Z' }, 'testnet')).name
    open = (await community({}, 'testnet')).name
    name = (await community()).name
  })

  it.each([undefined, '1', 1])('may be absent: %j', async (chainId) => {
    const body = { clusterName: later, walletName: 'x', ...(chainId && { chainId }) }
    expect(await alice.call('POST', '/v0.1/community/register?testnet=true', body)).toMatchObject({
      status: 403,
      body: { error: 'not_active' },
    })
  })

  it.each(['zz', 'constructor', '__proto__'])(
    'is refused where the community has no price on it: %j',
    async (chainId) => {
      const body = { clusterName: later, walletName: 'x', chainId }
      expect(await alice.call('POST', '/v0.1/community/register?testnet=true', body)).toMatchObject(
        wrong,
      )
    },
  )

  it.each(['11155111', 17_000, 'solana', '', null, 'undefined'])(
    'is accepted by v0.1: %j',
    async (chainId) => {
      const body = { clusterName: open, walletName: 'x', chainId }
      expect((await alice.call('POST', '/v0.1/community/register?testnet=true', body)).status).toBe(
        200,
      )
    },
  )

  it('is refused where there is no such network', async () => {
    expect(
      await alice.call('POST', `/v1/names/community/${name}/register`, {
        name: 'x',
        network: 'zz',
      }),
    ).toMatchObject(wrong)
  })

  it('is accepted where it has a price', async () => {
    expect(
      (
        await alice.call('POST', `/v1/names/community/${name}/register`, {
          name: 'x',
          network: '8453',
        })
      ).status,
    ).toBe(200)
  })
})
describe('GET /v1/communities after a name became a community', () => {
  it('lists it at once, also where it answered before', async () => {
    const name = freshName()
    const owner = await ownerOf(name)
    const ask = async () => (await world.get(`/v1/communities?name=${name}`)).body
    for (let i = 0; i < 3; i++) expect(await ask()).toEqual([])
    expect((await owner.call('PUT', `/v1/communities/${name}`, {})).status).toBe(200)
    for (let i = 0; i < 3; i++) expect(await ask()).toEqual([{ name }])
  })
})

it('a name of the testnet, which a chain selects, waits for no changes of the mainnet', async () => {
  const { name } = await community({}, 'testnet')
  const others = await Promise.all([memberOf(world), memberOf(world), memberOf(world)])
  const alice = await memberOf(world)
  const holder = await world.pool.connect()
  const waiting: Promise<string>[] = []
  try {
    await holder.query('BEGIN')
    await holder.query('SELECT FROM journal_heads WHERE network = 0 FOR UPDATE')
    waiting.push(...others.map((other) => other.create()))
    await sleep(200)
    const body = { name: 'alice', network: '11155111' }
    const registered = alice.call('POST', `/v1/names/community/${name}/register`, body)
    const reply = await Promise.race([registered, sleep(5_000)])
    expect(reply).toMatchObject({ status: 200, body: { clusterName: `${name}/alice` } })
  } finally {
    await holder.query('ROLLBACK')
    holder.release()
  }
  await Promise.all(waiting)
})
