import http from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { bid, randomAddress, useApi } from './support.js'

/** Pictures, bad input and origins of the requests that Blockscout's frontend makes (blockscout.test.ts). */

const world = useApi()

beforeAll(() => world.append('mainnet', [bid({ from: randomAddress(), name: 'name-0001' })]))

describe('pictures', () => {
  const picture = async (path: string) => {
    const response = await fetch(`${world.url}${path}`)
    return { response, text: await response.text() }
  }

  it('are drawn for other sites', async () => {
    const { response, text } = await picture('/profile-image/juniper')
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('image/svg+xml')
    expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin')
    expect(text).toBe((await picture('/image/juniper.svg')).text)
    expect((await picture('/profile-image/JUNIPER')).text).toBe(text)
    const below = await picture('/profile-image/campnetwork/lol')
    expect(below.response.status).toBe(200)
    expect(below.text).toContain('<title>campnetwork/lol</title>')
    expect((await picture('/profile-image/campnetwork%2Flol')).text).toBe(below.text)
  })

  it.each(['a%20b', 'a/b/c', '%2e%2e%2fb', 'a/..%2fb', '%ff', 'x'.repeat(33)])(
    'are refused for %s',
    async (name) => {
      const { response, text } = await picture(`/profile-image/${name}`)
      expect(response.status).toBeGreaterThanOrEqual(400)
      expect(response.status).toBeLessThan(500)
      expect(JSON.parse(text).error).toMatch(/^(invalid_name|invalid_request|not_found)$/)
    },
  )
})

describe('bad input', () => {
  const input = (value: unknown) => `input=${encodeURIComponent(JSON.stringify(value))}`
  it.each([
    ['no input', 'names.search', '', 'as JSON of up to 1000 characters'],
    ['an empty input', 'names.get', 'input=', 'as JSON'],
    ['no JSON', 'names.search', 'input=%7Boffset', 'as JSON'],
    ['a list', 'names.search', input([]), 'expected object'],
    ['a wrapper of superjson', 'names.get', input({ json: { name: 'x' } }), 'name: '],
    ['a number as name', 'names.get', input({ name: 7 }), 'name: '],
    ['null as address', 'names.getNamesByOwnerAddress', input({ address: null }), 'address: '],
    ['a negative offset', 'names.search', input({ offset: -1 }), 'offset: '],
    ['a fractional offset', 'names.leaderboard', input({ offset: 0.5 }), 'offset: '],
    ['an offset out of reach', 'names.search', input({ offset: 10_001 }), 'offset: '],
    ['a page of 51', 'names.leaderboard', input({ limit: 51 }), 'limit: '],
    ['an unknown order', 'names.search', input({ orderBy: 'name-desc' }), 'orderBy: '],
    [
      'two inputs',
      'names.get',
      `${input({ name: 'a' })}&${input({ name: 'b' })}`,
      'more than once',
    ],
    ['2 kB', 'names.get', input({ name: 'x'.repeat(2_000) }), 'up to 1000 characters'],
    ['10 kB', 'names.get', input({ name: 'x'.repeat(10_000) }), 'URL is longer'],
    ['a batch', 'names.get', `batch=1&${input({ 0: { name: 'x' } })}`, 'Batches'],
    ['an id of no cluster', 'clusters.getClusterById', input({ id: 'x' }), '64 hex digits'],
  ])('%s is refused in the form of tRPC', async (_, procedure, query, message) => {
    const { status, body } = await world.get(`/v1/trpc/${procedure}?${query}`)
    expect(status).toBe(400)
    expect(body).toEqual({
      error: {
        message: expect.stringContaining(message),
        code: -32_600,
        data: {
          code: 'BAD_REQUEST',
          httpStatus: 400,
          path: procedure,
          error: 'invalid_request',
        },
      },
    })
  })

  it('a text of blanks, as a search bar sends it, has the whole directory', async () => {
    const sent = { offset: 0, limit: 50, orderBy: 'name-asc', query: '  ' }
    const { status, body } = await world.get(`/v1/trpc/names.search?${input(sent)}`)
    expect(status).toBe(200)
    expect(body.result.data.total).toBe(1)
  })

  it('an unknown cluster is not found, in the form of tRPC', async () => {
    const id = `0x${'00'.repeat(32)}`
    const { status, body } = await world.get(`/v1/trpc/clusters.getClusterById?${input({ id })}`)
    expect(status).toBe(404)
    expect(body.error).toMatchObject({ code: -32_004, data: { code: 'NOT_FOUND' } })
  })

  it.each(['names.list', 'names.get,names.search', '', '..%2fnames.get'])(
    'there is no procedure "%s"',
    async (procedure) => {
      const { status, body } = await world.get(`/v1/trpc/${procedure}?batch=1&input=%7B%7D`)
      expect(status).toBe(404)
      expect(body.error).toMatchObject({ code: -32_004, data: { error: 'not_found' } })
    },
  )
})

describe('a page of another origin', () => {
  const path = `/v1/trpc/names.get?input=${encodeURIComponent('{"name":"name-0001"}')}`
  const headersOf = (path: string, headers: http.OutgoingHttpHeaders) =>
    new Promise<http.IncomingMessage>((resolve, reject) => {
      const request = http.get(`${world.url}${path}`, { headers }, (response) => {
        response.resume()
        response.once('end', () => resolve(response))
      })
      request.once('error', reject)
    })
  const ORIGIN = 'https://explorer.example'

  it('may read answers and errors, with credentials too', async () => {
    const first = await headersOf(path, { origin: ORIGIN })
    const tag = first.headers.etag!
    for (const response of [
      first,
      await headersOf(path, { origin: ORIGIN, cookie: 'session=1' }),
      await headersOf(path, { origin: ORIGIN, 'if-none-match': tag }),
      await headersOf('/v1/trpc/names.get', { origin: ORIGIN }),
      await headersOf('/v1/trpc/names.list', { origin: ORIGIN }),
    ]) {
      const { headers } = response
      expect(headers['access-control-allow-origin']).toBe(ORIGIN)
      expect(headers['access-control-allow-credentials']).toBe('true')
      expect(headers.vary).toMatch(/\borigin\b/i)
    }
  })

  it('may ask first whether its headers are allowed, with credentials too', async () => {
    const asked = { 'access-control-request-method': 'GET' }
    const preflight = async (path: string) => {
      const headers = { ...asked, 'access-control-request-headers': 'x-endpoint', origin: ORIGIN }
      const response = await fetch(`${world.url}${path}`, { method: 'OPTIONS', headers })
      expect(response.status).toBe(204)
      expect(response.headers.get('access-control-allow-headers')).toBe('x-endpoint')
      const allowed = ['origin', 'credentials'].map((name) => `access-control-allow-${name}`)
      return allowed.map((name) => response.headers.get(name))
    }
    for (const asked of [path, '/v1/trpc/names.list'])
      expect(await preflight(asked)).toEqual([ORIGIN, 'true'])
    expect(await preflight('/v1/overview')).toEqual(['*', null])
  })

  it('may read without credentials from anywhere', async () => {
    const { headers } = await headersOf(path, {})
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers['access-control-allow-credentials']).toBe(undefined)
    // for caches
    expect(headers.vary).toBe('origin')
  })

  it('gets no credentials on other routes', async () => {
    const { headers } = await headersOf('/v1/overview', { origin: ORIGIN })
    expect(headers['access-control-allow-origin']).toBe('*')
    expect(headers['access-control-allow-credentials']).toBe(undefined)
  })
})
