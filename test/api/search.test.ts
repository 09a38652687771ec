import { beforeAll, describe, expect, it } from 'vitest'
import { listWallet } from './plant.js'
import { bid, freshName, randomAddress, useApi } from './support.js'

const world = useApi()
const names = ['oak', 'oak-tree', 'oak_tree', 'oaken', 'oaks', 'oa', 'pine', 'oal']
const many = Array.from({ length: 12 }, (_, i) => `many-${String(i).padStart(2, '0')}`)

beforeAll(async () => {
  await world.append(
    'mainnet',
    [...names, ...many].map((name) => bid({ from: randomAddress(), name })),
  )
  await world.append('testnet', [bid({ from: randomAddress(), name: 'oak-of-tests' })])
})

const search = (prefix: string, more = '') =>
  world.get(`/v1/names/search?prefix=${encodeURIComponent(prefix)}${more}`)
const found = async (prefix: string, more?: string): Promise<string[]> =>
  (await search(prefix, more)).body.map(({ name }: { name: string }) => name)

describe('GET /v1/names/search', () => {
  it.each([
    ['oak', ['oak', 'oak-tree', 'oak_tree', 'oaken', 'oaks']],
    ['OAK', ['oak', 'oak-tree', 'oak_tree', 'oaken', 'oaks']],
    ['oak-', ['oak-tree']],
    ['oak_', ['oak_tree']],
    ['oaks/', ['oaks']],
    ['pine', ['pine']],
    ['birch', []],
    ['zz', []],
    ['a'.repeat(32), []],
  ])('finds the names that begin with %s', async (prefix, expected) => {
    expect(await found(prefix)).toEqual(expected)
  })

  it('returns at most ten names, the first in the order of ASCII', async () => {
    expect(await found('many-')).toEqual(many.slice(0, 10))
  })

  it('keeps the networks apart', async () => {
    expect(await found('oak', '&testnet=true')).toEqual(['oak-of-tests'])
  })

  it('finds a new name at once, although the previous response was cached', async () => {
    const name = freshName()
    expect(await found(name)).toEqual([])
    expect(await found(name)).toEqual([])
    await world.append('mainnet', [bid({ from: randomAddress(), name })])
    expect(await found(name)).toEqual([name])
  })

  it('lists a name with two bids once, and no names of wallets', async () => {
    const name = freshName()
    await world.append('mainnet', [bid({ from: randomAddress(), name })])
    await listWallet(world, { name, address: randomAddress(), wallet: 'cold', isPrivate: false })
    await world.append('mainnet', [bid({ from: randomAddress(), name })])
    expect(await found(name)).toEqual([name])
    expect(await found('cold')).toEqual([])
  })

  it.each([
    ['no prefix', ''],
    ['one character', 'o'],
    ['33 characters', 'o'.repeat(33)],
    ['a space', 'o k'],
    ['what a pattern of SQL would match', 'oa%'],
    ['a letter outside of ASCII', 'öak'],
  ])('refuses %s', async (_, prefix) => {
    const { status, body } = await search(prefix)
    expect([status, body.error]).toEqual([400, 'invalid_request'])
    expect(body.message).toContain('the first 2 or more characters of a name')
  })

  it('refuses two prefixes', async () => {
    expect((await search('oak', '&prefix=pine')).body.error).toBe('invalid_request')
  })
})
