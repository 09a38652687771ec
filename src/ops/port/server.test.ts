import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { Gauge } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMetrics } from '../metrics.js'
import { html } from './html.js'
import { listenOnPort, startOpsServer } from './server.js'

let ops: Awaited<ReturnType<typeof startOpsServer>>
beforeAll(async () => {
  const answers = { '/health': () => ({ isGood: true }) }
  const page = async () => html`<p>${'<script>'}</p>`
  ops = await startOpsServer({
    port: 0,
    host: '127.0.0.1',
    metrics: createMetrics(),
    answers,
    page,
  })
})
afterAll(() => ops.close())

const statusFor = (host: string, path: string) =>
  new Promise<number>((resolve, reject) => {
    const options = { host: '127.0.0.1', port: ops.port, path, headers: { host }, agent: false }
    http.get(options, (res) => resolve(res.resume().statusCode!)).on('error', reject)
  })

describe.each(['/health', '/metrics'])(
  'the operator’s port answers only to loopback addresses and localhost, so that no page of another site can read it: %s',
  (path) => {
    it.each([
      { name: '127.0.0.1', status: 200 },
      { name: '[::1]', status: 200 },
      { name: '10.1.2.3', status: 200 },
      { name: 'localhost', status: 200 },
      { name: 'LOCALHOST', status: 200 },
      { name: 'evil.example', status: 421 },
      { name: 'localhost.evil.example', status: 421 },
      { name: '127.0.0.1.evil.example', status: 421 },
      { name: 'evil.example.', status: 421 },
      { name: 'x:y', status: 421 },
    ])('$name, $status', async ({ name, status }) => {
      expect(await statusFor(name, path), 'without a port').toBe(status)
      expect(await statusFor(`${name}:${ops.port}`, path), 'with its port').toBe(status)
    })
  },
)

it('the page escapes texts, and accepts no input', async () => {
  const url = `http://127.0.0.1:${ops.port}/`
  const shown = await fetch(url)
  const text = await shown.text()
  expect(text).toContain('<p>&lt;script&gt;</p>')
  expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(
    (await fetch(url, { method: 'POST', body: new URLSearchParams({ id: '1' }) })).status,
  ).toBe(405)
})

it('on other addresses than loopback the page needs the secret', async () => {
  const secret = 'a long secret of the operator'
  const page = async () => html`<p>shown</p>`
  const start = (options: { host: string; secret?: string }) =>
    startOpsServer({ port: 0, metrics: createMetrics(), answers: {}, page, ...options })
  const closed = await start({ host: '0.0.0.0' })
  const open = await start({ host: '0.0.0.0', secret })
  const url = (port: number) => `http://127.0.0.1:${port}/`
  expect((await fetch(url(closed.port))).status).toBe(403)
  const asked = await fetch(url(open.port))
  expect([asked.status, asked.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining('Basic'),
  ])
  const ask = async (authorization: string) =>
    (await fetch(url(open.port), { headers: { authorization } })).status
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  expect(await ask(`Bearer ${secret}`)).toBe(200)
  expect(await ask(basic(`operator:${secret}`))).toBe(200)
  for (const wrong of [
    'Bearer wrong',
    basic('operator:wrong'),
    basic(secret.slice(1)),
    `Digest ${secret}`,
  ])
    expect(await ask(wrong), wrong).toBe(401)
  await Promise.all([closed.close(), open.close()])
})

/** Opens a number of connections, and prints how many of them the system has taken within five seconds. */
const OPEN_MANY = `
  const [port, count] = process.argv.slice(1).map(Number)
  let taken = 0
  const end = () => { console.log(taken); process.exit() }
  for (let i = 0; i < count; i++)
    require('node:net').connect(port, '127.0.0.1', () => ++taken === count && end())
  setTimeout(end, 5_000)`
const BURST = 1_500
/** Linux caps the backlog of each socket at this number. */
const systemLimit = (): number => {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'))
  } catch {
    return 0
  }
}

it.skipIf(systemLimit() < BURST)(
  `a burst of connections waits in the backlog while the process is busy, and none for its next SYN (needs net.core.somaxconn of ${BURST})`,
  async () => {
    const server = http.createServer()
    await listenOnPort(server, 0, '127.0.0.1')
    const { port } = server.address() as AddressInfo
    // this process accepts nothing while it waits for the other to end
    const { stdout } = spawnSync(process.execPath, ['-e', OPEN_MANY, String(port), String(BURST)])
    expect(Number(stdout)).toBe(BURST)
    server.close()
  },
  20_000,
)

it('answers other requests during a scrape, however long it takes', async () => {
  const metrics = createMetrics()
  const busyUntil = (ms: number) => {
    while (performance.now() < ms);
  }
  const order: string[] = []
  for (const i of [1, 2, 3]) {
    const name = `slow_${i}`
    new Gauge({
      name,
      help: 'A gauge that takes 5 ms to collect.',
      registers: [metrics.registry],
      collect() {
        order.push(name)
        busyUntil(performance.now() + 5)
        // other work that waits for the event loop
        setImmediate(() => order.push(`after ${name}`))
        this.set(i)
      },
    })
  }
  const server = await startOpsServer({ port: 0, host: '127.0.0.1', metrics, answers: {} })
  const text = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text()
  await server.close()
  expect(text).toContain('\nslow_1 1\n')
  // values differ from moment to moment, names and order don't
  const namesIn = (all: string) => all.match(/^# TYPE .*$/gm)
  expect(namesIn(text)).toEqual(namesIn(await metrics.registry.metrics()))
  expect(order.slice(0, 5)).toEqual(['slow_1', 'after slow_1', 'slow_2', 'after slow_2', 'slow_3'])
})
