import { beforeAll, describe, expect, it } from 'vitest'
import { memberOf } from './members.js'
import { bid, freshName, MINIMUM_WEI, randomAddress, tailBlock, useApi } from './support.js'

const alice = randomAddress()
const first = freshName()
const later = freshName()

const world = useApi()
beforeAll(() => world.append('mainnet', [bid({ from: alice, name: first })]))

describe('cached responses', () => {
  it('stay cached over private changes, whose time a new read could reveal', async () => {
    const member = await memberOf(world)
    await member.create()
    const name = async () => (await world.get(`/v1/names/address/${alice}`)).body.walletName
    for (let i = 0; i < 3; i++) expect(await name()).toBe('main')
    await world.pool.query(`UPDATE wallets SET name = 'other' WHERE name = 'main'`)
    const add = async (isPrivate: boolean) => {
      const address = randomAddress()
      const wallet = `w${isPrivate}`
      expect(
        (await member.call('POST', '/v1/clusters/wallets', [{ address, name: wallet, isPrivate }]))
          .status,
      ).toBe(200)
    }
    await add(true)
    expect(await name()).toBe('main')
    await add(false)
    expect(await name()).toBe('other')
    await world.pool.query(`UPDATE wallets SET name = 'main' WHERE name = 'other'`)
  })

  it('are as new as the last commit, however often they are requested', async () => {
    const owner = randomAddress()
    const ask = async () => (await world.get(`/v1/names/address/${owner}`)).body.clusterName
    for (let i = 0; i < 3; i++) expect(await ask()).toBeNull()
    const asked = Array.from({ length: 50 }, ask)
    await world.append('mainnet', [bid({ from: owner, name: later })])
    expect(await Promise.all(Array.from({ length: 50 }, ask))).toEqual(Array(50).fill(later))
    for (const name of await Promise.all(asked)) expect([null, later]).toContain(name)
  })

  it('of the feed are as new as the last commit, and the network is that of the token', async () => {
    const page = '/v1/events?orderBy=newest&limit=2'
    const newest = async () => (await world.get(page)).body.items[0].data.name
    const names = [freshName(), freshName()]
    for (const name of names) {
      await world.append('mainnet', [bid({ from: randomAddress(), name })])
      for (let i = 0; i < 3; i++) expect(await newest()).toBe(name)
    }
    // without the journal, only what is cached is answered
    await world.pool.query('ALTER TABLE journal_mainnet RENAME TO journal_away')
    try {
      expect((await world.get(page)).status).toBe(200)
      expect((await world.get(`${page}0`)).status).toBe(500)
    } finally {
      await world.pool.query('ALTER TABLE journal_away RENAME TO journal_mainnet')
    }

    const end = (await world.get('/v1/events?testnet=true')).body.resume
    const continued = async () => (await world.get(`/v1/events?nextPage=${end}`)).body.items
    for (let i = 0; i < 3; i++) expect(await continued()).toEqual([])
    await world.append('testnet', [bid({ from: randomAddress(), name: names[0]! })])
    for (let i = 0; i < 3; i++) expect(await continued()).not.toEqual([])
  })

  it('differ by network, query and method', async () => {
    for (let i = 0; i < 3; i++) {
      expect((await world.get(`/v1/names/address/${alice}`)).body.clusterName).toBe(first)
      expect(
        (await world.get(`/v1/names/address/${alice}?testnet=true`)).body.clusterName,
      ).toBeNull()
      expect((await world.request(`/v1/names/address/${alice}`, { method: 'POST' })).status).toBe(
        404,
      )
    }
    const headers = { 'content-type': 'application/json' }
    const ask = (more: object) =>
      world.request('/v1/names', {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify([{ name: first }]),
      })
    for (let i = 0; i < 3; i++) expect((await ask({})).status).toBe(200)
    expect((await ask({ 'content-encoding': 'gzip' })).status).toBe(400)
  })

  it('of free names stay cached until a name gets or loses an unconfirmed bid', async () => {
    const name = freshName()
    const other = freshName()
    const free = { name, isAvailable: true }
    const pending = { name, isAvailable: false, reason: 'pending' }
    const seen = (block: number, bidden: string) => [
      tailBlock(block, [bid({ from: alice, name: bidden, amountWei: MINIMUM_WEI })]),
    ]
    const checks = [
      async () => (await world.post('/v1/names/register/check', [name])).body[0],
      async () => (await world.post('/v0.1/register/check', [name])).body[0],
      async () => (await world.get(`/v0.1/register/check/${name}`)).body,
    ]
    const check = () => Promise.all(checks.map((each) => each()))
    const old = (now: typeof free) => [
      now,
      ...Array(2).fill({ name, isAvailable: now.isAvailable }),
    ]
    for (let i = 0; i < 3; i++) expect(await check()).toEqual(old(free))
    await world.tail('mainnet', seen(9, name))
    for (let i = 0; i < 3; i++) expect(await check()).toEqual(old(pending))
    // a reorg removed the block
    await world.tail('mainnet', seen(9, other))
    for (let i = 0; i < 3; i++) expect(await check()).toEqual(old(free))
  })

  it('are as new as the last commit where concurrent requests share one read', async () => {
    const free = freshName()
    const ask = async () =>
      (await world.post('/v1/names/register/check', [free])).body[0].isAvailable
    const together = () => Promise.all(Array.from({ length: 50 }, ask))
    for (let i = 0; i < 3; i++) expect(await together()).toEqual(Array(50).fill(true))
    const before = together()
    await world.tail('mainnet', [
      tailBlock(10, [bid({ from: alice, name: free, amountWei: MINIMUM_WEI })]),
    ])
    expect(await together()).toEqual(Array(50).fill(false))
    await before
  })

  it('fail together, and only while the database fails', async () => {
    const name = freshName()
    const check = async () => (await world.post('/v1/names/register/check', [name])).status
    expect(await check()).toBe(200)
    await world.append('mainnet', [bid({ from: randomAddress(), name: freshName() })])
    await world.pool.query('ALTER TABLE facts RENAME TO facts_away')
    expect(new Set(await Promise.all(Array.from({ length: 20 }, check)))).toEqual(new Set([500]))
    await world.pool.query('ALTER TABLE facts_away RENAME TO facts')
    expect(await check()).toBe(200)
  })

  it('offer no name while the network catches up', async () => {
    const check = () => world.post('/v1/names/register/check', [first])
    for (let i = 0; i < 3; i++)
      expect((await check()).body).toEqual([{ name: first, isAvailable: false }])
    await world.pool.query('UPDATE journal_heads SET caught_up = false')
    await expect
      .poll(async () => (await check()).body.error, { timeout: 10_000 })
      .toBe('catching_up')
    await world.pool.query('UPDATE journal_heads SET caught_up = true')
    await expect.poll(async () => (await check()).status, { timeout: 10_000 }).toBe(200)
  })
})
