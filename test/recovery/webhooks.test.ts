import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { addWebhookCommands } from '../../src/cli/webhooks/commands.js'
import { type EventItem, startStack, until } from '../../src/testing/index.js'
import { runCli, runHere } from '../support/cli.js'
import { queryOn } from '../support/database.js'
import { bodyOf, serve } from '../support/httpServer.js'
import { useWorld } from '../support/useWorld.js'
import { freshName, freshWallet, registerOn } from '../support/world.js'

const DEADLINE = { timeout: 60_000, interval: 100 }

interface Message {
  headers: IncomingHttpHeaders
  body: string
}

/** A receiver that checks signatures, as docs/use/webhooks.md shows, and answers what a test says. */
class Receiver {
  status = 200
  key = ''
  /** Messages that were answered with 2xx. */
  readonly taken: Message[] = []
  stop = async (): Promise<void> => {}

  async start(): Promise<string> {
    const { url, stop } = await serve(async (request, response) => {
      const body = await bodyOf(request)
      if (this.status < 300) this.taken.push({ headers: request.headers, body })
      response.writeHead(this.status, { location: '/elsewhere' }).end('{}')
    })
    this.stop = stop
    return `${url}/hook`
  }

  /** Events in the order of their arrival, each once. */
  events(): EventItem[] {
    const items = this.taken.flatMap(
      ({ body }) => (JSON.parse(body) as { items?: EventItem[] }).items ?? [],
    )
    return [...new Map(items.map((item) => [item.id, item])).values()]
  }
}

const receiver = new Receiver()
let url: string
const stack = useWorld(() =>
  startStack({
    chains: ['1'],
    seeds: false,
    blockMs: 400,
    daemonEnv: { WEBHOOKS_PRIVATE: 'true', SQL_VIEWS: 'on' },
  }),
)
let id: string

async function cli(...args: string[]): Promise<string> {
  const env = { DATABASE_URL: stack.databaseUrl, WEBHOOKS_PRIVATE: 'true' }
  const { stdout, stderr, code } = await runHere(addWebhookCommands, ['webhooks', ...args], env)
  if (code !== 0) throw new Error(stderr)
  return stdout
}

beforeAll(async () => {
  url = await receiver.start()
})
afterAll(() => receiver.stop())

async function register(): Promise<string> {
  const name = freshName()
  const tx = await registerOn('1', await freshWallet('mainnet', stack), [{ name }], stack)
  await until.status(stack, tx, 'finalized')
  return name
}

/** The feed as it is pulled. */
async function feed(): Promise<EventItem[]> {
  const response = await fetch(`${stack.api}/v1/events?limit=1000`)
  return ((await response.json()) as { items: EventItem[] }).items
}

/** The check of messages that docs/use/webhooks.md shows. */
async function documentedCheck(): Promise<
  (headers: IncomingHttpHeaders, body: string, key: string) => boolean
> {
  const [, code] = /```js\n(.+?)```/s.exec(readFileSync('docs/use/webhooks.md', 'utf8'))!
  return (await import(`data:text/javascript,${encodeURIComponent(code!)}`)).isGenuine
}

const newestFailure = async (): Promise<string | undefined> =>
  (JSON.parse(await cli('failures', id, '--json')) as { reason: string }[])[0]?.reason

const expectAllDelivered = () => expect.poll(() => receiver.events(), DEADLINE).toEqual(stackFeed)
let stackFeed: EventItem[]

it('gets the feed in order, each message signed', async () => {
  const added = JSON.parse(await cli('add', url, '--since', 'start', '--json')) as {
    id: number
    key: string
  }
  id = String(added.id)
  receiver.key = added.key
  await register()
  await register()
  stackFeed = await feed()
  expect(stackFeed.length).toBeGreaterThan(3)
  await expectAllDelivered()
  const isGenuine = await documentedCheck()
  for (const { headers, body } of receiver.taken) {
    const id = `${headers['webhook-id']}`
    expect(isGenuine(headers, body, receiver.key), id).toBe(true)
    expect(isGenuine(headers, `${body} `, receiver.key), id).toBe(false)
    const old = String(Number(headers['webhook-timestamp']) - 3_600)
    const aged = { ...headers, 'webhook-timestamp': old }
    expect(isGenuine(aged, body, receiver.key), id).toBe(false)
  }
  expect(new Set(receiver.taken.map(({ headers }) => headers['webhook-id'])).size).toBe(
    receiver.taken.length,
  )
})

it('is tried again while it fails, and over a kill of the daemon; nothing is lost and the order stays', async () => {
  receiver.status = 503
  await register()
  await expect.poll(newestFailure, DEADLINE).toBe('HTTP 503')
  expect(JSON.parse(await cli('list', '--json'))).toMatchObject([
    { id: Number(id), state: 'failing' },
  ])
  await stack.daemon.kill('SIGKILL')
  await stack.daemon.exited()
  await stack.daemon.spawn()
  await stack.daemon.waitUntilReady()
  await register()
  receiver.status = 200
  await cli('replay', id)
  stackFeed = await feed()
  await expectAllDelivered()
  expect(JSON.parse(await cli('list', '--json'))).toMatchObject([{ state: 'active', failures: 0 }])
})

it('is sent again from an earlier place on the operator’s word', async () => {
  const before = receiver.taken.length
  await cli('replay', id, '--since', 'start')
  await expect.poll(() => receiver.taken.length, DEADLINE).toBeGreaterThan(before)
  const again = JSON.parse(receiver.taken[before]!.body) as { items: EventItem[] }
  expect(again.items[0]).toEqual(stackFeed[0])
})

it('is parked where the receiver wants no more, and no redirect is followed', async () => {
  receiver.status = 302
  await register()
  await expect.poll(newestFailure, DEADLINE).toBe('HTTP 302')
  receiver.status = 410
  await cli('replay', id)
  await expect.poll(newestFailure, DEADLINE).toBe('HTTP 410')
  const state = async () =>
    (JSON.parse(await cli('list', '--json')) as { state: string }[])[0]!.state
  await expect.poll(state, DEADLINE).toBe('parked')
  receiver.status = 200
  await cli('replay', id)
  stackFeed = await feed()
  await expectAllDelivered()
})

it('reports that the feed was restarted, and sends it from its beginning', async () => {
  receiver.taken.length = 0
  await runCli(['journal', 'restored', '--yes'], { DATABASE_URL: stack.databaseUrl })
  await expect.poll(() => receiver.taken.length, DEADLINE).toBeGreaterThan(1)
  expect(JSON.parse(receiver.taken[0]!.body)).toMatchObject({
    type: 'feed_restarted',
    network: 'mainnet',
  })
  stackFeed = await feed()
  await expectAllDelivered()
  await cli('remove', id)
  expect(JSON.parse(await cli('list', '--json'))).toEqual([])
})

it('is copied for readers by SQL beside', async () => {
  const copied = () => queryOn(stack.databaseUrl, 'SELECT count(*)::int FROM registry_v1.events')
  await expect.poll(copied, { timeout: 10_000 }).toEqual([{ count: stackFeed.length }])
})
