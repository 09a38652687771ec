import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SOCKET_FLOODS } from '../../scripts/siege/sockets.js'
import { waitForCondition } from '../../src/testing/processes/processes.js'
import {
  type ApiWorld,
  bid,
  freshName,
  limitsOf,
  randomAddress,
  randomHash,
  startApi,
  tailBlock,
} from '../api/support.js'
import { HAPROXY, NGINX, startExample } from '../support/proxies.js'
import { attackFrom, HELD_PATH, startPipe, UNLIMITED_PATH } from './proxyAttacks.js'

/** What the proxies of examples/deploy/topology take from the processes behind them, and what they leave as it is. */

const VISITOR = '127.0.3.2'
/** Connections of one address that the examples allow. */
const MOST_OF_SOURCE = 500
/** Requests of a flood, more than the examples allow to one address without a key. */
const FLOOD = 6_000
const LIMITS = limitsOf(300, {
  address: { perSecond: 50, burst: 300 },
  key: { perSecond: 500, burst: 3_000 },
})
/** Time limits in the tests, seconds: a client is silent for longer in some of them. */
const HEAD_S = 3
const SILENT_S = 3
const WAIT_S = 2 * SILENT_S

const PROXIES = [
  {
    name: 'HAProxy',
    program: HAPROXY,
    timeouts: new Map([
      ['timeout http-request', HEAD_S],
      ['http-request wait-for-body time', HEAD_S],
      ['timeout client', SILENT_S],
    ]),
    /** Limits connections before their first request. */
    boundsHalfHeads: true,
    /** Closes the client's connection when the API refuses a request. */
    endsRefused: true,
    /** Answers 408 to a body that stops. */
    answersSlowBodies: true,
  },
  {
    name: 'nginx',
    program: NGINX,
    timeouts: new Map([
      ['client_header_timeout', HEAD_S],
      ['client_body_timeout', SILENT_S],
      ['send_timeout', SILENT_S],
    ]),
    boundsHalfHeads: false,
    endsRefused: false,
    answersSlowBodies: false,
  },
]

/** Opening of a connection of siege. @param path in place of the flood's own, so that it is counted separately */
function openingOf(name: string, path?: string): string {
  const { opening } = SOCKET_FLOODS.find((flood) => flood.name === name)!
  return path === undefined ? opening : opening.replaceAll(/(?<=^(?:GET|POST) )\S+/gm, path)
}
const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

describe.each(PROXIES)('$name before the API', (proxied) => {
  const { name, program, timeouts, boundsHalfHeads, endsRefused, answersSlowBodies } = proxied
  if (!program.isInstalled) {
    it.skip(`is not tried: ${name} is not installed here`, () => {})
    return
  }
  const ended: (() => Promise<unknown>)[] = []
  let world: ApiWorld
  let pipe: Awaited<ReturnType<typeof startPipe>>
  let port = 0
  let http2Port = 0
  const owner = randomAddress()
  const owned = freshName()

  beforeAll(async () => {
    world = await startApi({ trustProxy: 1, limits: LIMITS })
    ended.push(() => world.stop())
    await world.append('mainnet', [bid({ from: owner, name: owned })])
    pipe = await startPipe(Number(new URL(world.url).port))
    ended.push(pipe.stop)
    const proxy = await startExample(program, pipe.port, timeouts)
    ended.push(proxy.stop)
    port = proxy.port
    http2Port = proxy.http2Port
    const isUp = () => lookUp().then(({ status }) => status === 200)
    if (!(await waitForCondition(isUp, 10_000, 100))) throw new Error(`${name} answers nothing`)
  }, 60_000)
  afterAll(async () => {
    for (const end of ended.reverse()) await end()
  })

  let attackers = 0
  /** Address whose limits are unused. */
  const freshAddress = () => `127.0.4.${++attackers}`

  /** A request of the visitor on a connection of its own. @param at port of the proxy */
  const ask = (path: string, headers: http.OutgoingHttpHeaders = {}, at = port) =>
    new Promise<{ status: number; headers: http.IncomingHttpHeaders; text: string }>(
      (resolve, reject) => {
        const options = {
          port: at,
          host: '127.0.0.1',
          localAddress: VISITOR,
          agent: false,
          path,
          headers,
        }
        http
          .get(options, (res) => {
            let text = ''
            res.on('data', (data) => {
              text += data
            })
            res.on('error', reject)
            res.on('end', () => resolve({ status: res.statusCode!, headers: res.headers, text }))
          })
          .on('error', reject)
      },
    )
  const lookUp = (at = port) => ask('/v1/networks', {}, at)
  /** Another client's look-ups meanwhile. */
  const expectAnswers = async (at = port) => {
    const statuses: number[] = []
    for (let i = 0; i < 20; i++) statuses.push((await lookUp(at)).status)
    expect(statuses).toEqual(Array(20).fill(200))
  }

  describe('under attack', () => {
    it('forwards one request of a connection at a time', async () => {
      const path = '/v1/networks?pipelined'
      const from = freshAddress()
      const attacks = many(20, () => attackFrom(from, port, openingOf('pipelined look-ups', path)))
      await expectAnswers()
      if (endsRefused) await expect.poll(() => attacks.every(({ isClosed }) => isClosed)).toBe(true)
      await expect.poll(() => attacks.flatMap(({ statuses }) => statuses)).toContain('429')
      for (const { socket } of attacks) socket.destroy()
      const { most } = pipe.countsOf(path)
      expect(most).toBeGreaterThan(0)
      expect(most).toBeLessThanOrEqual(attacks.length)
    })

    it('forwards no half head, and closes its connection', async () => {
      const path = '/v1/networks?half'
      const from = freshAddress()
      const halves = many(MOST_OF_SOURCE + 200, () =>
        attackFrom(from, port, `GET ${path} HTTP/1.1\r\nHost: x\r\n`),
      )
      await expectAnswers()
      const open = () => halves.filter(({ isClosed }) => !isClosed).length
      if (boundsHalfHeads) await expect.poll(open).toBeLessThanOrEqual(MOST_OF_SOURCE)
      await expect.poll(open).toBe(0)
      expect(pipe.countsOf(path).count).toBe(0)
    })

    it('forwards no head that goes on and on', async () => {
      const path = '/v1/networks?endless'
      const slow = attackFrom(freshAddress(), port, `GET ${path} HTTP/1.1\r\nHost: x\r\n`)
      const drip = setInterval(() => slow.socket.write('a: b\r\n'), 100)
      await expect.poll(() => slow.isClosed).toBe(true)
      clearInterval(drip)
      expect(pipe.countsOf(path).count).toBe(0)
    })

    it('forwards no body that stops, and closes its connection', async () => {
      const path = '/v1/names?slow'
      const from = freshAddress()
      const slow = many(20, () => attackFrom(from, port, openingOf('slow bodies', path)))
      await expectAnswers()
      await expect.poll(() => slow.every(({ isClosed }) => isClosed)).toBe(true)
      for (const { text } of slow)
        if (answersSlowBodies) expect(text).toContain('{"status":408,"error":"invalid_request"')
      expect(pipe.countsOf(path).count).toBe(0)
    })

    it('closes a connection whose answers are not read', async () => {
      const path = '/openapi.json?unread'
      const from = freshAddress()
      const unread = many(8, () => attackFrom(from, port, openingOf('unread documents', path)))
      for (const { socket } of unread) socket.pause()
      await expectAnswers()
      await expect.poll(() => pipe.countsOf(path).most).toBeGreaterThan(0)
      expect(pipe.countsOf(path).most).toBeLessThanOrEqual(unread.length)
      await expect.poll(() => pipe.countsOf(path).now).toBe(0)
      for (const { socket } of unread) socket.resume()
      await expect.poll(() => unread.every(({ isClosed }) => isClosed)).toBe(true)
    })

    it('joins the chunks of a body', async () => {
      const path = '/v1/wallets?chunks'
      const body = `${openingOf('joins in small parts', path)}0\r\n\r\n`
      const chunked = attackFrom(freshAddress(), port, body)
      await expectAnswers()
      await expect.poll(() => chunked.statuses).toEqual(['400'])
      chunked.socket.destroy()
      // 200,000 chunks of a byte
      expect(pipe.countsOf(path).parts).toBeLessThan(2_000)
    })

    it('forwards at most so many requests of an address at once', async () => {
      const from = freshAddress()
      const held = many(MOST_OF_SOURCE + 200, () =>
        attackFrom(from, port, `GET ${HELD_PATH} HTTP/1.1\r\nHost: x\r\nX-API-Key: x\r\n\r\n`),
      )
      await expectAnswers()
      await expect.poll(() => pipe.countsOf(HELD_PATH).now).toBeGreaterThan(MOST_OF_SOURCE - 100)
      expect(pipe.countsOf(HELD_PATH).most).toBeLessThanOrEqual(MOST_OF_SOURCE)
      for (const { socket } of held) socket.destroy()
      await expect.poll(() => pipe.countsOf(HELD_PATH).now).toBe(0)
    })

    it('forwards at most eight joins of an address at once', async () => {
      const from = freshAddress()
      const joins = many(20, () => attackFrom(from, port, openingOf('heads of joins')))
      const refused = () => joins.filter(({ text }) => text.includes('"error":"rate_limited"'))
      await expect.poll(() => refused().length).toBe(12)
      await expectAnswers()
      const more = ['POST /v1/wallets//', 'OPTIONS /v1/wallets', 'GET /v1/wallets'].map((start) =>
        attackFrom(from, port, `${start} HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n`),
      )
      await expect
        .poll(() => more.map(({ statuses }) => statuses))
        .toEqual([['429'], ['204'], ['404']])
      const other = attackFrom(
        freshAddress(),
        port,
        `${openingOf('joins in small parts')}0\r\n\r\n`,
      )
      await expect.poll(() => other.statuses).toEqual(['400'])
      for (const { socket } of [...joins, ...more, other]) socket.destroy()
    })

    it('refuses many headers, and large ones', async () => {
      const headers = Object.fromEntries(many(70, (i) => [`x-${i}`, 'x']))
      const crowded = await ask('/v1/networks', headers)
      expect([crowded.status, JSON.parse(crowded.text).error]).toEqual([431, 'invalid_request'])
      const path = '/v1/networks?large'
      const large = await ask(path, { x: 'x'.repeat(20_000) })
      expect([400, 431]).toContain(large.status)
      expect(pipe.countsOf(path).count).toBe(0)
    })

    it.each([
      ['a list', '/v1/names', 128 * 1_024],
      ['a join', '/v1/wallets', 8 * 1_024 * 1_024],
      ['a join whose path has doubled slashes', '//v1//wallets/', 8 * 1_024 * 1_024],
    ])('forwards a body up to the limit of %s', async (_, path, limit) => {
      const headOf = (bytes: number) =>
        `POST ${path}?${bytes} HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n`
      const larger = attackFrom(freshAddress(), port, headOf(limit + 1))
      await expect.poll(() => larger.text).toContain('{"status":413,"error":"invalid_request"')
      larger.socket.destroy()
      expect(pipe.countsOf(`${path}?${limit + 1}`).count).toBe(0)
      const largest = attackFrom(freshAddress(), port, headOf(limit) + ' '.repeat(limit))
      await expect.poll(() => largest.statuses).not.toEqual([])
      largest.socket.destroy()
      expect(pipe.countsOf(`${path}?${limit}`).count).toBe(1)
    })

    it('refuses a flood of one address', async () => {
      const from = freshAddress()
      const request = `GET ${UNLIMITED_PATH} HTTP/1.1\r\nHost: x\r\n\r\n`
      const flood = many(20, () => attackFrom(from, port, request.repeat(FLOOD / 20)))
      await expectAnswers()
      const texts = () => flood.map(({ text }) => text).join('\n')
      await expect.poll(texts).toContain('"Too many requests of this address."')
      expect(texts()).toMatch(/^retry-after: 10\r$/im)
      for (const { socket } of flood) socket.destroy()
      expect(pipe.countsOf(UNLIMITED_PATH).count).toBeLessThan(FLOOD)
    })

    it('goes on asking a process that refuses bodies before it has read them', async () => {
      // without the pipe, which reads the bodies
      const direct = await startExample(program, Number(new URL(world.url).port))
      try {
        await expect.poll(() => lookUp(direct.port).then(({ status }) => status)).toBe(200)
        const large = `POST /v1/wallets HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n`
        const joins = many(20, () =>
          attackFrom(freshAddress(), direct.port, large + '1'.repeat(8_000_000)),
        )
        while (joins.some(({ statuses }) => statuses.length === 0)) {
          expect((await lookUp(direct.port)).status).toBe(200)
          await sleep(50)
        }
        for (const { socket } of joins) socket.destroy()
        await expectAnswers(direct.port)
      } finally {
        await direct.stop()
      }
    })
  })

  describe('leaves as it is', () => {
    it('a stream and a wait that are silent for longer than a client may be', async () => {
      const request = http.get({ port, host: '127.0.0.1', agent: false, path: '/v1/events/stream' })
      const [stream] = (await once(request, 'response')) as [http.IncomingMessage]
      let streamed = ''
      stream.on('data', (data) => {
        streamed += data
      })
      const tx = randomHash()
      const pending = bid({ from: owner, name: freshName(), tx, block: 91, logIndex: 0 })
      await world.tail('mainnet', [tailBlock(91, [pending])])
      const waited = await ask(`/v1/names/register/tx/${tx}?wait=${WAIT_S}&since=pending`)
      expect(JSON.parse(waited.text)).toMatchObject({ tx, status: 'pending' })
      const name = freshName()
      await world.append('mainnet', [bid({ from: randomAddress(), name })])
      await expect.poll(() => streamed).toContain(name)
      request.destroy()
    })

    it('the address of the client, which it puts last', async () => {
      const path = '/v1/networks?from'
      await ask(path, { 'x-forwarded-for': '203.0.113.9' })
      expect(pipe.countsOf(path).from).toMatch(new RegExp(`^203\\.0\\.113\\.9, ${VISITOR}$`))
    })

    it('entity tags, images and pages', async () => {
      const path = `/v1/names/address/${owner}`
      const first = await ask(path)
      expect(first.status).toBe(200)
      const again = { 'if-none-match': first.headers.etag! }
      expect((await ask(path, again)).status).toBe(304)
      const image = await ask(`/image/${owned}.svg`)
      expect([image.status, image.headers['content-type']]).toEqual([
        200,
        expect.stringContaining('image/svg+xml'),
      ])
      const page = await ask('/', { accept: 'text/html' })
      expect([page.status, page.headers['content-type']]).toEqual([
        200,
        expect.stringContaining('text/html'),
      ])
    })

    it('connections that clients keep', async () => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
      const sockets = new Set<unknown>()
      for (let i = 0; i < 3; i++) {
        const request = http.get({ port, host: '127.0.0.1', agent, path: '/v1/networks' })
        const [response] = (await once(request, 'response')) as [http.IncomingMessage]
        response.resume()
        await once(response, 'end')
        sockets.add(request.socket)
      }
      agent.destroy()
      expect(sockets.size).toBe(1)
    })

    it('HTTP/2 towards clients', async () => {
      const session = http2.connect(`http://127.0.0.1:${http2Port}`)
      const statuses = await Promise.all(
        many(20, async () => {
          const stream = session.request({ ':path': '/v1/networks' })
          const [headers] = (await once(stream, 'response')) as [http2.IncomingHttpHeaders]
          stream.resume()
          return headers[':status']
        }),
      )
      session.destroy()
      expect(statuses).toEqual(Array(20).fill(200))
    })
  })
})
