import dns from 'node:dns'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createJsonRpcCaller } from '../../src/chains/rpc/evm.js'
import { createLeasePool } from '../../src/db/leaders/lead.js'
import { createPool, withConnection } from '../../src/db/pg/pool.js'
import { postWebhookMessage } from '../../src/push/webhooks/post.js'
import { useServer } from '../support/database.js'
import { bodyOf, serveInTest } from '../support/httpServer.js'
import { stallInTest } from '../support/stalledServer.js'

/** A name that has both addresses. */
const NAME = 'two.example'
const ONE = '127.0.0.1'
const OTHER = '127.0.0.2'

const postgres = useServer()

/** Makes every name resolve to these addresses, in this order. */
function resolveTo(addresses: readonly string[]): void {
  const found = addresses.map((address) => ({ address, family: 4 }))
  const lookup = (_: string, __: unknown, done: (error: null, found: unknown) => void) =>
    process.nextTick(done, null, found)
  vi.spyOn(dns, 'lookup').mockImplementation(lookup as typeof dns.lookup)
}

const databaseUrl = (port: number): string => {
  const url = new URL(postgres.url)
  url.hostname = NAME
  url.port = String(port)
  return url.href
}

async function queryOnce(pool: ReturnType<typeof createPool>): Promise<unknown> {
  try {
    const { rows } = await pool.query<{ one: number }>('SELECT 1 AS one')
    return rows[0]!.one
  } finally {
    await pool.end()
  }
}

const startNode = (): Promise<string> =>
  serveInTest(async (request, response) => {
    const { id = null } = JSON.parse(await bodyOf(request)) as { id?: number }
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
  })

/** Everything in the service that connects to a name, with the answer that shows that it got through. */
const CLIENTS = [
  {
    client: 'a call of a node',
    start: startNode,
    connect: (port: number) => createJsonRpcCaller(`http://${NAME}:${port}`)('eth_blockNumber', []),
    answer: '0x1',
  },
  {
    client: 'a webhook',
    start: startNode,
    connect: (port: number) =>
      postWebhookMessage({
        url: `http://${NAME}:${port}`,
        headers: {},
        body: '{}',
        allowsPrivate: true,
        signal: new AbortController().signal,
      }),
    answer: 200,
  },
  {
    client: 'a pool',
    start: async () => postgres.url,
    connect: (port: number) =>
      queryOnce(createPool({ url: databaseUrl(port), max: 1, applicationName: 'test' })),
    answer: 1,
  },
  {
    client: 'the pool of the leases',
    start: async () => postgres.url,
    connect: (port: number) => queryOnce(createLeasePool(databaseUrl(port))),
    answer: 1,
  },
  {
    client: 'a connection outside the pools',
    start: async () => postgres.url,
    connect: (port: number) =>
      withConnection(
        { url: databaseUrl(port), applicationName: 'test', answerMs: 3_000 },
        async (client) => (await client.query('SELECT 1 AS one')).rows[0].one as number,
      ),
    answer: 1,
  },
]

afterEach(() => {
  vi.restoreAllMocks()
})

// other systems have one address of loopback, and answer a full backlog differently
describe.skipIf(process.platform !== 'linux').each(CLIENTS)(
  'of two addresses of a name, $client',
  ({ start, connect, answer }) => {
    it('reaches a slow one before another that refuses', async () => {
      const target = Number(new URL(await start()).port)
      const slow = await stallInTest(ONE, target)
      resolveTo([ONE, OTHER])
      const connected = connect(slow.port)
      connected.catch(() => {})
      await sleep(500)
      slow.resume()
      expect(await connected).toBe(answer)
    })

    it('reaches the second where the first does not answer', async () => {
      const target = Number(new URL(await start()).port)
      const dead = await stallInTest(OTHER, target)
      const alive = await stallInTest(ONE, target, dead.port)
      alive.resume()
      resolveTo([OTHER, ONE])
      expect(await connect(dead.port)).toBe(answer)
    })
  },
)
