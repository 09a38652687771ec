import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it, vi } from 'vitest'
import { expensiveWorkQueue, MAX_WAITING_EXPENSIVE_WORK } from '../../src/ops/turns.js'
import { CapacityLimiter } from '../../src/push/capacityLimiter.js'
import { limitsOf, randomAddress, useApi } from './support.js'

/** Units of an address, which do not refill during a test. */
const BURST = 300
const WAIT = { timeout: 20_000, interval: 20 }
const DEADLINE_MS = 500
const MIB = 1024 * 1024

const options = { limits: limitsOf(BURST), trustProxy: 1 }
const world = useApi(options)
const hurried = useApi({ ...options, requestDeadlineMs: DEADLINE_MS })

let clients = 0
/** A client address as a proxy reports it. */
const newClient = (): string => `198.51.100.${++clients}`

const headOf = (request: string, client: string, ...headers: string[]): string =>
  [`${request} HTTP/1.1`, 'host: x', `x-forwarded-for: ${client}`, ...headers, '', ''].join('\r\n')

async function open(
  text: string,
  { url } = world,
): Promise<{ socket: Socket; seen: { text: string } }> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const seen = { text: '' }
  socket.on('data', (bytes) => {
    seen.text += bytes
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return { socket, seen }
}

const leftOf = (text: string): number => Number(/r=(\d+)/.exec(text)?.[1])

describe('a body in many small parts', () => {
  it.each([
    ['a list', 'POST /v1/names'],
    ['a join', 'POST /v1/wallets'],
  ])('is refused, and costs its bound: %s', async (_what, request) => {
    const client = newClient()
    const head = headOf(request, client, 'transfer-encoding: chunked')
    const { socket, seen } = await open(`${head}${'1\r\n \r\n'.repeat(20_000)}`)
    await vi.waitFor(() => expect(seen.text).toMatch(/ 413 .*connection: close.*too small/s), WAIT)
    const next = await world.request('/v1/networks', { headers: { 'x-forwarded-for': client } })
    const bound = (request.endsWith('names') ? 128 : 8 * 1_024) / 4
    expect(leftOf(next.headers.get('ratelimit') ?? '')).toBe(Math.max(0, BURST - bound - 1))
    socket.destroy()
  })

  it('is read where each part holds a whole address', async () => {
    const line = `2b\r\n${randomAddress()}\n\r\n`
    const head = headOf('POST /v1/wallets', newClient(), 'transfer-encoding: chunked')
    const { socket, seen } = await open(`${head}${line.repeat(2_000)}0\r\n\r\n`)
    await vi.waitFor(() => expect(seen.text).toContain(' 200 '), WAIT)
    socket.destroy()
  })
})

describe('a full queue of expensive work', () => {
  it('refuses the address with most work by 429, and keeps the work of others', async () => {
    const flooding = newClient()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let begun = 0
    const hold = () => {
      begun += 1
      return held
    }
    const flood = (count: number) =>
      Array.from({ length: count }, () => expensiveWorkQueue.run(flooding, hold).catch(() => {}))
    const ask = (client: string) =>
      world.request('/v1/events', { headers: { 'x-forwarded-for': client } })
    const running = flood(2)
    try {
      await vi.waitFor(() => expect(begun).toBe(2), WAIT)
      const waiting = flood(MAX_WAITING_EXPENSIVE_WORK)
      const refused = await ask(flooding)
      expect([refused.status, refused.body.error]).toEqual([429, 'rate_limited'])
      expect(refused.headers.get('retry-after')).toBe('1')
      const other = ask(newClient())
      // its place was taken from the flood
      await vi.waitFor(async () => await waiting.at(-1), WAIT)
      release()
      expect((await other).status).toBe(200)
      await Promise.all([...running, ...waiting])
    } finally {
      release()
    }
  })
})

describe('a list over its bound', () => {
  const many = Array(20_000).fill(0)

  it.each([
    ['a list', 'PUT', '/v1/clusters/wallets/names', many],
    ['a list of an object', 'POST', '/v1/names/register/solana', { names: many }],
    ['a list of an object of v0.1', 'POST', '/v0.1/register', { network: 'solana', names: many }],
  ])(
    'that is %s is refused for it, at the price of its bytes',
    async (_what, method, path, body) => {
      const headers = { 'x-forwarded-for': newClient() }
      const reply = await world.request(path, { method, headers, body: JSON.stringify(body) })
      expect(reply.body).toMatchObject({ status: 400, error: 'too_many' })
      const left = leftOf(reply.headers.get('ratelimit') ?? '')
      expect(BURST - left).toBeLessThan(12)
    },
  )

  it('is ignored on a route without a body', async () => {
    const headers = { 'x-forwarded-for': newClient() }
    const body = { network: 'solana', sender: randomAddress(), names: [{ name: 'a' }], more: many }
    const reply = await world.request('/v1/names/register/solana', {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    expect(reply.status).toBe(400)
    expect(BURST - leftOf(reply.headers.get('ratelimit') ?? '')).toBeLessThan(12)
  })
})

it('malformed bytes after a request are refused, and end the connection', async () => {
  const path = `/v1/names/address/${randomAddress()}`
  const { socket, seen } = await open(`${headOf(`GET ${path}`, newClient())}no HTTP\r\n\r\n`)
  await once(socket, 'close')
  expect(seen.text).toMatch(/HTTP\/1\.1 400 .*"error":"invalid_request"/s)
})

describe('statements that look up many at once', () => {
  const many = Array.from({ length: 50 }, (_, i) => ({ name: `name-${i}` }))
  const addresses = many.map(() => randomAddress())
  const names = many.map(({ name }) => name)

  it.each([
    ['names', '/v1/names', many, /AS i\(cluster, wallet, ord\)/],
    ['addresses', '/v1/names/address', addresses, /AS i\(address, ord\)/],
    ['clusters', '/v0.1/cluster/names', names, /AS i\(name, ord\)\s+CROSS JOIN/],
  ])(
    'are two at once, and leave the other connections to all others: %s',
    async (_what, path, body, statement) => {
      const plain = world.pool.query
      let underWay = 0
      let most = 0
      let count = 0
      const query = async (...given: [{ text?: string }]) => {
        const isCounted = statement.test(given[0].text ?? '')
        if (isCounted) count += 1
        if (isCounted) most = Math.max(most, ++underWay)
        // wait until other look-ups have arrived
        if (isCounted) await setTimeout(50)
        return Reflect.apply(plain, world.pool, given).finally(() => isCounted && underWay--)
      }
      Object.assign(world.pool, { query })
      const headers = { 'x-forwarded-for': newClient() }
      const ask = () => world.request(path, { method: 'POST', headers, body: JSON.stringify(body) })
      const replies = await Promise.all(Array.from({ length: 8 }, ask))
      Object.assign(world.pool, { query: plain })
      expect(replies.map(({ status }) => status)).toEqual(Array(8).fill(200))
      expect([count, most]).toEqual([8, 2])
    },
  )
})

describe('the body of a join that arrives after its answer', () => {
  it('is not read, and its memory is given back', async () => {
    const takes = vi.spyOn(CapacityLimiter.prototype, 'take')
    const head = () => headOf('POST /v1/wallets', newClient(), `content-length: ${MIB * 8}`)
    const opened = await Promise.all(Array.from({ length: 2 }, () => open(head(), hurried)))
    await setTimeout(DEADLINE_MS / 2)
    for (const { socket } of opened) socket.write(Buffer.alloc(MIB, ' '))
    // block this process until the deadline has passed, so that it reads the bytes afterwards
    const until = performance.now() + DEADLINE_MS
    while (performance.now() < until);
    await vi.waitFor(
      () => expect(opened.every(({ seen }) => seen.text.includes(' 408 '))).toBe(true),
      WAIT,
    )
    for (const { socket } of opened) socket.destroy()
    const limiter = takes.mock.contexts[0] as CapacityLimiter
    await vi.waitFor(() => expect(limiter.taken).toBe(0), WAIT)
    vi.restoreAllMocks()
  })
})

describe('preflights', () => {
  it('above the rate of an address are answered, and say when to ask again', async () => {
    const client = newClient()
    const opened = await Promise.all(
      Array.from({ length: 40 }, () => open(headOf('OPTIONS /v1/names', client).repeat(15))),
    )
    const count = (text: string) =>
      opened.reduce((sum, { seen }) => sum + seen.text.split(text).length - 1, 0)
    await vi.waitFor(() => expect(count('204 No Content')).toBe(600), WAIT)
    expect(count('retry-after: ')).toBe(600 - BURST)
    for (const { socket } of opened) socket.destroy()
    const more = await fetch(`${world.url}/v1/names`, {
      method: 'OPTIONS',
      headers: { 'x-forwarded-for': client },
    })
    expect(more.status).toBe(204)
    const read = await world.request('/v1/networks', { headers: { 'x-forwarded-for': client } })
    expect(read.status).toBe(200)
  })
})
