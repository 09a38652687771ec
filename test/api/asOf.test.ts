import { beforeAll, describe, expect, it } from 'vitest'
import { writeChainStates } from '../../src/db/chains/states.js'
import { initialChainState } from '../../src/indexer/evm/types.js'
import { bid, freshName, randomAddress, useApi } from './support.js'

const world = useApi()
const owner = randomAddress()
const name = freshName()
const BLOCK = 41
/** Time of the newest finalized header, which is two blocks later; and the usual time between blocks. */
const CONFIRMED_MS = Date.UTC(2026, 10, 27, 12)
const BLOCK_MS = 2_000

beforeAll(async () => {
  await world.append('mainnet', [bid({ from: owner, name })])
  await world.pool.query('UPDATE chains SET next_block = $1', [BLOCK + 1])
  const named = { network: 'mainnet', label: '1', chain: 0, nextBlock: BLOCK + 1 } as const
  const state = initialChainState(named)
  const heads = { latest: 60, headMs: Date.now(), confirmed: 43, confirmedMs: CONFIRMED_MS }
  await writeChainStates(world.pool, 'mainnet', [
    Object.assign(state, heads, { blockMs: BLOCK_MS, tailBlock: 60 }),
  ])
})

const AS_OF = `mainnet ${BLOCK} ${new Date(CONFIRMED_MS - 2 * BLOCK_MS).toISOString()}`

describe('x-clusterd-as-of, the block that a look-up reflects, is sent', () => {
  it.each<[string, unknown?]>([
    [`/v1/names/address/${owner}`],
    ['/v1/names/address/0x0000000000000000000000000000000000000001'],
    ['/v1/names/address', [owner]],
    ['/v1/names', [{ name }]],
    [`/v1/names/owner/address/${owner}`],
    [`/v1/clusters/name/${name}`],
    ['/v1/clusters/name/no-such-name'],
    [`/v1/clusters/address/${owner}`],
    [`/v0.1/name/${owner}`],
    ['/v0.1/name/addresses', [owner]],
    [`/v0.1/address/${name}`],
    [`/v0.1/cluster/${name}`],
    ['/v0.1/cluster/names', [name]],
  ])('%s', async (path, body) => {
    const reply = body === undefined ? await world.get(path) : await world.post(path, body)
    expect([200, 404]).toContain(reply.status)
    expect(reply.headers.get('x-clusterd-as-of')).toBe(AS_OF)
    expect(reply.headers.get('access-control-expose-headers')).toContain('x-clusterd-as-of')
  })

  it('with a join', async () => {
    const init = { method: 'POST', body: JSON.stringify([owner]) }
    const answer = await fetch(`${world.url}/v1/wallets`, init)
    expect([answer.status, answer.headers.get('x-clusterd-as-of')]).toEqual([200, AS_OF])
    await answer.text()
  })

  it('with 304 Not Modified', async () => {
    const { headers } = await world.get(`/v1/names/address/${owner}`)
    const init = { headers: { 'if-none-match': headers.get('etag')! } }
    const again = await fetch(`${world.url}/v1/names/address/${owner}`, init)
    expect([again.status, again.headers.get('x-clusterd-as-of')]).toEqual([304, AS_OF])
  })

  it('for the network of the request', async () => {
    const { headers } = await world.get('/v1/clusters/name/foo?testnet=true')
    expect(headers.get('x-clusterd-as-of')).toMatch(/^testnet \d+ \d{4}-\d\d-\d\dT\S+Z$/)
  })

  it('but not with an error', async () => {
    const { status, headers } = await world.post('/v1/names', { no: 'list' })
    expect([status, headers.get('x-clusterd-as-of')]).toEqual([400, null])
  })

  it('and is in the OpenAPI document, for the client’s types', async () => {
    const { body } = await world.get('/openapi.json')
    const { headers } = body.paths['/v1/names/address/{address}'].get.responses[200]
    expect(headers).toHaveProperty('X-Clusterd-As-Of')
  })

  it('without another database statement per request', async () => {
    await world.get(`/v1/names/address/${owner}`)
    const query = world.pool.query.bind(world.pool)
    const asked: string[] = []
    world.pool.query = ((...of: Parameters<typeof query>) => {
      const [{ text }] = of as unknown as [{ text?: string }]
      if (text?.includes('AS is_mirror')) asked.push(text)
      return query(...of)
    }) as typeof query
    await Promise.all(Array.from({ length: 50 }, () => world.get(`/v0.1/name/${owner}`)))
    world.pool.query = query
    // a statement serves all requests of some time: on a busy machine the fifty take several such times
    expect(asked.length).toBeLessThan(25)
  })
})
