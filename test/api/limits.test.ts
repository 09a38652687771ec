import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { beforeEach, describe, expect, it } from 'vitest'
import { routes } from '../../scripts/declaredRoutes.js'
import { codeOfError } from '../support/declaredErrors.js'
import { memberOf } from './members.js'
import { fullCluster } from './plant.js'
import {
  bid,
  freshName,
  limitsOf,
  type Reply,
  randomAddress,
  randomHash,
  START_MS,
  startApi,
  useApi,
} from './support.js'

/** Units of an address, which do not refill during a test. */
const BURST = 1_000

let counted: Record<string, number> = {}
let client = 0

const limited = {
  inc: ({ route, limit }: { route: string; limit: string }) => {
    counted[`${limit} ${route}`] = (counted[`${limit} ${route}`] ?? 0) + 1
  },
}
const api = useApi({
  limits: limitsOf(BURST),
  trustProxy: 1,
  metrics: { requests: { observe() {} }, limited },
})
beforeEach(() => {
  client++
  counted = {}
})

/** Headers with a client address reported by a proxy, another one for each test. */
const from = (address = `198.51.100.${client}`) => ({
  'x-forwarded-for': `203.0.113.9, ${address}`,
})

const ask = (method: string, path: string, body?: unknown): Promise<Reply> =>
  api.request(path, {
    method,
    headers: from(),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })

const left = ({ headers }: Reply): number =>
  Number(/^"address";r=(\d+);t=\d+$/.exec(headers.get('ratelimit') ?? '')?.[1])

/** Spends all units of the test's client. */
async function spendAll(): Promise<void> {
  for (let held = BURST; held >= 11; ) held = left(await ask('POST', '/v1/auth/token', {}))
  for (let reply = await ask('GET', '/v1/networks'); reply.status !== 429; )
    reply = await ask('GET', '/v1/networks')
}

describe('what a request costs', () => {
  const hash = `0x${'ab'.repeat(32)}`
  const keys = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, 1]))
  const bytes = (body: unknown) => JSON.stringify(body).length
  it.each([
    ['a look-up', 'GET', `/v1/names/address/${randomAddress()}`, undefined, 1],
    ['a bulk look-up', 'POST', '/v1/names/address', Array(500).fill('x'), 6],
    ['a bulk look-up of v0.1', 'POST', '/v0.1/name/addresses', Array(1_000).fill('x'), 11],
    ['a join', 'POST', '/v1/wallets?types=none', Array(500).fill('x'), 6],
    [
      'a large join that is refused',
      'POST',
      '/v1/wallets',
      [...Array(50_000).fill('x'), 1],
      (4 * 50_000) / 4_096,
    ],
    ['a body of many keys', 'POST', '/v1/names/address', keys, bytes(keys) / 4_096],
    ['a large body that is refused', 'POST', '/v1/auth/token', keys, bytes(keys) / 4_096],
    ['a page of the feed', 'GET', '/v1/events', undefined, 3.5],
    [
      'a registration below a community',
      'POST',
      '/v1/names/community/club/register',
      { name: 'a' },
      5,
    ],
    ['a large page of the feed', 'GET', '/v1/events?limit=1000', undefined, 6],
    ['a large page of v0.1', 'GET', '/v0.1/events?limit=9999', undefined, 26],
    ['a quote', 'POST', '/v1/names/register/evm', {}, 5],
    ['a quote by the other name', 'POST', '/v1/register/evm', {}, 5],
    ['a quote on Solana', 'POST', '/v1/names/register/solana', {}, 5],
    ['a large quote on Solana', 'POST', '/v1/register/solana', { names: Array(25).fill(1) }, 30],
    ['a quote of v0.1', 'POST', '/v0.1/register', {}, 5],
    [
      'a large one of v0.1 on Solana',
      'POST',
      '/v0.1/register',
      { network: 'solana', names: Array(25).fill(1) },
      30,
    ],
    ['a status that asks the chains', 'GET', `/v1/names/register/tx/${hash}`, undefined, 5],
    ['the same of v0.1', 'GET', `/v0.1/register/tx/${hash}`, undefined, 5],
    ['a sign-in', 'POST', '/v1/auth/token', {}, 10],
    ['a sign-in of v0.1', 'POST', '/v0.1/auth/key', {}, 10],
    ['a change', 'DELETE', '/v1/clusters/wallets', ['a', 'b', 'c'], 9],
    [
      'a change of v0.1',
      'POST',
      '/v0.1/cluster/x/update/wallets',
      { add: [1, 2], update: [3], remove: [4] },
      10,
    ],
    ['the document', 'GET', '/openapi.json', undefined, 1],
    ['the page', 'GET', '/no/such/path', undefined, 1],
  ])('%s', async (_what, method, path, body, cost) => {
    expect(left(await ask('GET', '/v1/networks'))).toBe(999)
    await ask(method, path, body)
    // two requests, because the remaining units are reported as whole numbers
    expect(left(await ask(method, path, body))).toBe(Math.floor(999 - 2 * cost))
  })

  it('refunds, by the number of tokens in which the address has paid', async () => {
    const address = randomAddress()
    const payer = Buffer.concat([Buffer.of(1), Buffer.from(address.slice(2), 'hex')])
    await api.pool.query(
      `INSERT INTO payments (network, id, kind, chain, state, tx, block, sequence, payer, token, amount, name_word, paid_ms,
         community_word, recipient, number, outcome)
       SELECT 0, sha256($1 || i::text::bytea), 2, 1, 2, sha256($1), 1, i, $1, '0x' || lpad(i::text, 40, '0'), 1, sha256($1), 1,
         sha256($1), '', i, 1 FROM generate_series(1, 30) i`,
      [payer],
    )
    await ask('GET', `/v1/refunds/${address}`)
    expect(left(await ask('GET', '/v1/networks'))).toBe(BURST - 5 - 30 - 1)
  })

  it('refunds, by the number of credits from other chains for which no receiver is given', async () => {
    const address = randomAddress()
    const wallet = Buffer.concat([Buffer.of(1), Buffer.from(address.slice(2), 'hex')])
    await api.pool.query(
      `INSERT INTO hub_credits (network, block, log_index, tx_hash, wallet, eid, amount_wei)
       SELECT 0, 2, i, sha256($1), $1, i, 1 FROM generate_series(0, 7) i`,
      [wallet],
    )
    const sums = 8 / 75
    await ask('GET', `/v1/refunds/${address}`)
    expect(left(await ask('GET', '/v1/networks'))).toBe(Math.floor(BURST - 5 - 7 - sums - 1))
    await ask('GET', `/v1/refunds/${address}?to=${address}`)
    expect(left(await ask('GET', '/v1/networks'))).toBe(
      Math.floor(BURST - 5 - 7 - sums - 1 - 5 - sums - 1),
    )
  })

  it('refunds, by the number of credits and withdrawals that are added up', async () => {
    const address = randomAddress()
    const wallet = Buffer.concat([Buffer.of(1), Buffer.from(address.slice(2), 'hex')])
    await api.pool.query(
      `INSERT INTO hub_credits (network, block, log_index, tx_hash, wallet, eid, amount_wei)
       SELECT 0, 3, i, sha256($1), $1, 0, CASE WHEN i % 2 = 0 THEN 1 ELSE -1 END FROM generate_series(1, 1500) i`,
      [wallet],
    )
    expect((await ask('GET', `/v1/refunds/${address}`)).body.refunds).toEqual([])
    expect(left(await ask('GET', '/v1/networks'))).toBe(BURST - 5 - 20 - 1)
  })

  it('requirements, by the number of their tokens', async () => {
    const owner = await memberOf(api)
    const name = freshName()
    await api.append('testnet', [bid({ from: owner.address, name })])
    const token = { kind: 'token', network: '11155111', minimum: '1' }
    const tokenOf = (i: number) => ({ ...token, token: `0x${`${i}`.repeat(40)}` })
    expect(
      (
        await owner.call('PUT', `/v1/communities/${name}?testnet=true`, {
          requirements: [1, 2, 3].map(tokenOf),
        })
      ).status,
    ).toBe(200)
    const query = `testnet=true&walletAddress=${randomAddress()}`
    await ask('GET', `/v0.1/community/check/requirements/${name}?${query}`)
    expect(left(await ask('GET', '/v1/networks'))).toBe(999 - 5 - 3)
  })

  it('a cluster with many wallets', async () => {
    const name = await fullCluster(api)
    for (const [method, path, body, cost] of [
      ['GET', `/v1/clusters/name/${name}`, undefined, 1 + 1_000 / 75],
      ['GET', `/v0.1/cluster/${name}`, undefined, 1 + 1_000 / 75],
      ['POST', '/v0.1/cluster/names', Array(10).fill(name), 1.1 + 10_000 / 75],
    ] as const) {
      client++
      expect(left(await ask(method, path, body)), path).toBe(Math.floor(1_000 - cost))
    }
  })

  it('a status that is known', async () => {
    const tx = randomHash()
    await api.append('mainnet', [
      bid({ from: randomAddress(), name: freshName(), tx, atMs: START_MS }),
    ])
    expect((await ask('GET', `/v1/names/register/tx/${tx}`)).body.status).toBe('finalized')
    expect(left(await ask('GET', `/v0.1/register/tx/${tx}`))).toBe(998)
  })
})

describe('a client without units', () => {
  it('is refused on every route, in JSON with the time to wait', async () => {
    await spendAll()
    const others = ['/', '/openapi.json', '/none'].map((one) => ({ method: 'get', one }))
    const paths = routes.flatMap(({ method, path, aliases = [] }) =>
      [path, ...aliases].map((one) => ({ method, one })),
    )
    for (const { method, one } of [...paths, ...others]) {
      const path = one.replace(/:\w+/g, 'x')
      const reply = await ask(method.toUpperCase(), path)
      expect([one, reply.status, codeOfError(reply.body)], one).toEqual([one, 429, 'rate_limited'])
      expect(Number(reply.headers.get('retry-after')), one).toBeGreaterThan(0)
      expect(reply.headers.get('ratelimit'), one).toMatch(/^"address";r=0;t=\d+$/)
      expect(reply.headers.get('ratelimit-policy'), one).toBe('"address";q=1000;w=1000000000')
      const exposed = reply.headers.get('access-control-expose-headers')
      expect(exposed, one).toContain('etag, retry-after, ratelimit, ratelimit-policy')
    }
    expect(counted['address /v1/events']).toBe(1)
  })

  it('does not affect other clients, which only the proxy’s header distinguishes', async () => {
    await spendAll()
    const spoofed = { 'x-forwarded-for': `192.0.2.1, 203.0.113.200, 198.51.100.${client}` }
    expect((await api.request('/v1/networks', { headers: spoofed })).status).toBe(429)
    expect((await api.request('/v1/networks', { headers: from('192.0.2.77') })).status).toBe(200)
    expect((await api.get('/v1/networks')).status).toBe(200)
  })

  it('still gets responses to CORS preflights', async () => {
    await spendAll()
    expect(
      (await fetch(`${api.url}/v1/networks`, { method: 'OPTIONS', headers: from() })).status,
    ).toBe(204)
  })

  it('is one subscriber of IPv6, with any address of its prefix', async () => {
    const v6 = (tail: string) =>
      api.request('/v1/networks', { headers: from(`2001:db8:${client}:1:${tail}`) })
    expect(left(await v6(':1'))).toBe(999)
    expect(left(await v6('a:b:c:d'))).toBe(998)
  })
})

it('without a proxy X-Forwarded-For is ignored', async () => {
  const bare = await startApi({ limits: limitsOf(2) })
  const asked = async (address: string) =>
    (await bare.request('/v1/networks', { headers: { 'x-forwarded-for': address } })).status
  expect([await asked('192.0.2.1'), await asked('192.0.2.2'), await asked('192.0.2.3')]).toEqual([
    200, 200, 429,
  ])
  await bare.stop()
})

it('the client is the last address before the trusted proxies', async () => {
  const trustProxy = ['loopback', '10.0.0.0/8']
  const behind = await startApi({
    limits: limitsOf(1),
    trustProxy,
  })
  const asked = async (addresses: string) =>
    (await behind.request('/v1/networks', { headers: { 'x-forwarded-for': addresses } })).status
  expect(await asked('192.0.2.1, 10.1.2.3')).toBe(200)
  expect(await asked('192.0.2.9, 192.0.2.1, 10.7.7.7, 10.1.2.3')).toBe(429)
  expect(await asked('192.0.2.9, 10.1.2.3')).toBe(200)
  await behind.stop()
})

it('without limits nothing is counted', async () => {
  const off = await startApi()
  expect((await off.get('/v1/networks')).headers.get('ratelimit')).toBeNull()
  await off.stop()
})

describe('pipelined requests', () => {
  const request = 'GET /v1/networks HTTP/1.1\r\nhost: x\r\n'
  const pipeline = async (count: number) => {
    const small = await startApi({ limits: limitsOf(3) })
    const socket = connect(Number(new URL(small.url).port), '127.0.0.1')
    socket.write(`${`${request}\r\n`.repeat(count - 1)}${request}connection: close\r\n\r\n`)
    const text = await textOf(socket)
    await small.stop()
    return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
  }

  it('are answered, by 429 once the units are spent', async () => {
    expect(await pipeline(16)).toEqual([...Array(3).fill('200'), ...Array(13).fill('429')])
  })

  it('close their connection where more wait at once than its bound', async () => {
    expect((await pipeline(1_000)).length).toBeLessThanOrEqual(16)
  })
})

describe('a body', () => {
  const KIB = 1_024
  const SMALL_BURST = 40
  const small = useApi({
    limits: limitsOf(SMALL_BURST),
    trustProxy: 1,
  })

  /** Sends a head and a part of its body. */
  const begin = (head: string, part = '') => {
    const socket = connect(Number(new URL(small.url).port), '127.0.0.1')
    const forwarded = `x-forwarded-for: 198.51.100.${client}`
    socket.write(
      `POST ${head}\r\nhost: x\r\n${forwarded}\r\n\r\n${part}`.replace('\r\n', ' HTTP/1.1\r\n'),
    )
    return socket
  }
  const unitsLeft = async () =>
    Number(
      /r=(\d+)/.exec(
        (await small.request('/v1/networks', { headers: from() })).headers.get('ratelimit')!,
      )![1],
    )

  it('is charged by its declared length before it is read', async () => {
    const half = begin(`/v1/names\r\ncontent-length: ${100 * KIB}`, ' '.repeat(4 * KIB))
    await expect.poll(unitsLeft).toBeLessThan(SMALL_BURST - 25)
    half.destroy()
  })

  it('without a length is charged by its bound, and what it did not use is given back', async () => {
    const half = begin('/v1/names\r\ntransfer-encoding: chunked', '2\r\n[]\r\n')
    await expect.poll(unitsLeft).toBeLessThan(SMALL_BURST - 32)
    half.end('0\r\n\r\n')
    expect(await textOf(half)).toContain(' 200 ')
    // one for the body, and one or two for each question about the units
    await expect.poll(unitsLeft).toBeGreaterThan(SMALL_BURST - 15)
  })

  it('for which too few units are left is refused before it is read', async () => {
    expect(await unitsLeft()).toBe(SMALL_BURST - 1)
    const first = begin(`/v1/names\r\ncontent-length: ${64 * KIB}`)
    await expect.poll(unitsLeft).toBeLessThan(SMALL_BURST - 16)
    const text = await textOf(begin('/v1/names\r\ntransfer-encoding: chunked', '1\r\n'))
    expect(text).toMatch(/^HTTP\/1\.1 429 .*connection: close/s)
    first.destroy()
  })

  it('that declares more than its bound is not read, and costs one unit', async () => {
    const text = await textOf(begin('/v1/names\r\ncontent-length: 9000000'))
    expect(text).toMatch(/^HTTP\/1\.1 413 .*connection: close/s)
    expect(await unitsLeft()).toBe(SMALL_BURST - 2)
  })
})

/** What a connection receives until it ends. */
async function textOf(socket: Socket): Promise<string> {
  let text = ''
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    text += chunk
  })
  await once(socket, 'close')
  return text
}
