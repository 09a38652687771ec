import http from 'node:http'
import net from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { waitForCondition } from '../../src/testing/processes/processes.js'
import { startApi } from '../api/support.js'
import { HAPROXY, NGINX, startExample } from '../support/proxies.js'

/** The proxies of examples/deploy/topology block attacks that the processes behind them do not limit. */

/** Pipelined requests on each of an attacker's connections. */
const PIPELINED = 500
const PIPELINES = 20
/** Unfinished request heads of one address: more than its connections may be. */
const HALF_HEADS = 700
const MOST_OF_SOURCE = 500
/** Longest acceptable time of another client's look-up meanwhile, ms. A blocked one takes seconds. */
const PATIENCE_MS = 2_000

const ATTACKER = '127.0.3.1'
const VISITOR = '127.0.3.2'
/** Paths by which requests of attackers are counted separately from look-ups. */
const PIPELINED_PATH = '/v1/networks?pipelined'
const UNFINISHED_PATH = '/v1/networks?unfinished'
const headOf = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n`

const PROXIES = [
  {
    name: 'HAProxy',
    program: HAPROXY,
    /** Limits connections before their first request. */
    boundsHalfHeads: true,
    /** Closes the client's connection when the API closes its own. */
    endsRefused: true,
  },
  { name: 'nginx', program: NGINX, boundsHalfHeads: false, endsRefused: false },
]

/** Forwarded requests without a response: now, and at most at any time. */
interface UnderWay {
  now: number
  most: number
}

interface Seen {
  statuses: string[]
  isClosed: boolean
}

/** Opens a connection from an address and writes to it. */
function connectFrom(localAddress: string, port: number, bytes: string) {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress })
  const seen: Seen = { statuses: [], isClosed: false }
  socket.on('connect', () => socket.write(bytes))
  socket.on('data', (data) => {
    for (const [, status] of data.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3})/g))
      seen.statuses.push(status!)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    seen.isClosed = true
  })
  return { socket, seen }
}

/** Status and duration of a request on a new connection. */
const lookUp = (port: number) =>
  new Promise<{ status: number; ms: number }>((resolve, reject) => {
    const startedMs = performance.now()
    const options = { port, host: '127.0.0.1', localAddress: VISITOR, agent: false }
    http
      .get({ ...options, path: '/v1/networks' }, (res) => {
        res.resume()
        res.on('end', () => resolve({ status: res.statusCode!, ms: performance.now() - startedMs }))
      })
      .on('error', reject)
  })

describe.each(PROXIES)(
  '$name before the API',
  ({ name, program, boundsHalfHeads, endsRefused }) => {
    const { isInstalled } = program
    const ended: (() => Promise<unknown>)[] = []
    let port = 0
    /** Requests of each path that the API has not answered yet, and their maximum. */
    const underWay = new Map<string, UnderWay>()

    beforeAll(async () => {
      if (!isInstalled) return
      const api = await startApi({
        trustProxy: 1,
        limits: {
          address: { perSecond: 50, burst: 300 },
          key: { perSecond: 500, burst: 3_000 },
          keysPerDay: 10,
          changesPerMinute: 60,
          changesPerDay: 1_000,
          clustersPerDay: 10,
          namesPerDay: 10,
        },
      })
      ended.push(() => api.stop())
      const behind = await startCounter(Number(new URL(api.url).port), underWay)
      ended.push(behind.stop)
      const proxy = await startExample(program, behind.port)
      ended.push(proxy.stop)
      port = proxy.port
      const isUp = () =>
        lookUp(port).then(
          ({ status }) => status === 200,
          () => false,
        )
      if (!(await waitForCondition(isUp, 10_000, 100))) throw new Error(`${name} answers nothing`)
    }, 60_000)
    afterAll(async () => {
      for (const end of ended.reverse()) await end()
    })

    it.skipIf(!isInstalled)(
      `forwards one request of a connection at a time, so pipelines block no other client (skipped without ${name})`,
      async () => {
        const attacks = Array.from({ length: PIPELINES }, () =>
          connectFrom(ATTACKER, port, `${headOf(PIPELINED_PATH)}\r\n`.repeat(PIPELINED)),
        )
        const answers = []
        for (let i = 0; i < 20; i++) answers.push(await lookUp(port))
        if (endsRefused)
          await expect
            .poll(() => attacks.every(({ seen }) => seen.isClosed), { timeout: 10_000 })
            .toBe(true)
        for (const { socket } of attacks) socket.destroy()
        expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
        expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(PATIENCE_MS)
        // at most one for each of the attacker's connections
        const most = underWay.get(PIPELINED_PATH)?.most
        expect(most).toBeGreaterThan(0)
        expect(most).toBeLessThanOrEqual(PIPELINES)
        const statuses = attacks.flatMap(({ seen }) => seen.statuses)
        expect(statuses).toContain('429')
      },
    )

    it.skipIf(!isInstalled)(
      `forwards no unfinished request, and accepts other clients beside ${HALF_HEADS} of them (skipped without ${name})`,
      async () => {
        const halves = Array.from({ length: HALF_HEADS }, () =>
          connectFrom(ATTACKER, port, headOf(UNFINISHED_PATH)),
        )
        const answers = []
        for (let i = 0; i < 20; i++) answers.push(await lookUp(port))
        const open = () => halves.filter(({ seen }) => !seen.isClosed).length
        if (boundsHalfHeads) await expect.poll(open).toBeLessThanOrEqual(MOST_OF_SOURCE)
        // each connection was closed after the time limit for a head
        await expect.poll(open, { timeout: 20_000 }).toBe(0)
        expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
        expect(Math.max(...answers.map(({ ms }) => ms))).toBeLessThan(PATIENCE_MS)
        expect(underWay.has(UNFINISHED_PATH)).toBe(false)
      },
      40_000,
    )
  },
)

/** A pipe to the API that counts, by path, forwarded requests without a response. */
async function startCounter(to: number, underWay: Map<string, UnderWay>) {
  const server = http.createServer((req, res) => {
    const { method, url: path = '', headers } = req
    const counts = underWay.get(path) ?? { now: 0, most: 0 }
    underWay.set(path, counts)
    counts.now += 1
    counts.most = Math.max(counts.most, counts.now)
    res.once('close', () => {
      counts.now -= 1
    })
    const passed = http.request(
      { port: to, host: '127.0.0.1', method, path, headers },
      (answer) => {
        res.writeHead(answer.statusCode!, answer.rawHeaders)
        answer.pipe(res)
      },
    )
    passed.on('error', () => res.destroy())
    req.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as net.AddressInfo).port,
    stop: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
