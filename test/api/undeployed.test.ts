import { describe, expect, it, vi } from 'vitest'
import { Client } from '../../src/client/client.js'
import { ZERO_ADDRESS } from '../../src/registry/journal/eventForms.js'
import { useApi } from './support.js'

/** A service of the testnet only. */
const world = useApi({
  configs: (configs) => configs.filter(({ network }) => network === 'testnet'),
  isIndexed: ['testnet'],
})
const HASH = `0x${'5e'.repeat(32)}`

describe('a network that is not deployed', () => {
  it.each([
    ['GET', `/v1/names/register/tx/${HASH}`],
    ['POST', '/v1/names/register/check', ['foo']],
    ['GET', '/v1/names/address/foo'],
    ['POST', '/v1/names', [{ name: 'foo' }]],
    ['GET', '/v1/clusters/name/foo'],
    ['GET', '/v1/events'],
    ['GET', `/v1/refunds/${ZERO_ADDRESS}`],
  ])('is not reported as an outage: %s %s', async (method, path, body?: unknown) => {
    const init = { method, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const { status, body: answer, headers } = await world.request(path, init)
    expect([status, answer.error]).toEqual([400, 'unsupported_network'])
    expect(answer.message).toContain('add testnet=true for the testnet')
    expect(headers.get('retry-after')).toBeNull()
  })

  it.each<[string, unknown, unknown?]>([
    [`/v0.1/register/tx/${HASH}`, { tx: HASH, status: 'not_found' }],
    ['/v0.1/register/check/foo', { name: 'foo', isAvailable: false }],
    ['/v0.1/register/check', [{ name: 'foo', isAvailable: false }], ['foo']],
    ['/v0.1/address/foo', null],
    [`/v0.1/name/${ZERO_ADDRESS}`, null],
    ['/v0.1/cluster/foo', null],
    ['/v0.1/address/names', [], ['foo']],
    ['/v0.1/cluster/names', [], ['foo']],
  ])('has empty responses in v0.1: %s', async (path, expected, body) => {
    const reply = body === undefined ? await world.get(path) : await world.post(path, body)
    expect([reply.status, reply.body]).toEqual([200, expected])
  })

  it('has a feed without events in v0.1', async () => {
    expect((await world.get('/v0.1/events')).body).toMatchObject({ items: [] })
  })

  it('does not affect the other network', async () => {
    const asked = await world.get('/v1/names/address/foo?testnet=true')
    expect(asked.status).toBe(404)
    expect((await world.get('/v1/networks')).status).toBe(200)
  })

  it('ends the client’s waitForStatus at once', async () => {
    const send = vi.fn(fetch)
    const client = new Client({ url: world.url, fetch: send })
    await expect(client.waitForStatus(HASH)).rejects.toMatchObject({ code: 'unsupported_network' })
    expect(send).toHaveBeenCalledTimes(1)
  })
})
