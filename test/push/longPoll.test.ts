import http from 'node:http'
import { afterAll, describe, expect, it } from 'vitest'
import { MAX_LONG_POLLS } from '../../src/push/longRequests.js'
import { bid, freshName, randomAddress, randomHash, startApi, tailBlock } from '../api/support.js'
import { useWorld } from '../support/useWorld.js'
import { LIMITS } from './limits.js'
import { alive } from './memory.js'

/** Longer than any test may take: a long poll that times out fails its test. */
const WAIT_S = 30
const POLLERS = 400
/** Heap and buffers per long poll, including the client's side. */
const BYTES_EACH = 32 * 1024

let world = useWorld(() => startApi())
const from = randomAddress()
const agent = new http.Agent({ maxSockets: Number.POSITIVE_INFINITY })

afterAll(() => agent.destroy())

const path = (tx: string, query = '') => `/v1/names/register/tx/${tx}?${query}`
const poll = (tx: string, query = `wait=${WAIT_S}&since=pending`) => world.get(path(tx, query))

let block = 90

/** Adds transactions to the unconfirmed tail. */
async function pending(count = 1) {
  block += 1
  const bids = Array.from({ length: count }, (_, i) => {
    const tx = randomHash()
    return { tx, entry: bid({ from, name: freshName(), tx, block, logIndex: i }) }
  })
  const entries = bids.map(({ entry }) => entry)
  await world.tail('mainnet', [tailBlock(block, entries)])
  return bids
}

/** Polls with its own socket. Resolves to the HTTP status and the body's status. */
function pollBy(tx: string, agentOf = agent): Promise<string> {
  const { hostname, port } = new URL(world.url)
  return new Promise((resolve) => {
    const req = http.get(
      { hostname, port, agent: agentOf, path: path(tx, `wait=${WAIT_S}&since=pending`) },
      async (res) => {
        let text = ''
        for await (const chunk of res) text += chunk
        resolve(`${res.statusCode} ${JSON.parse(text).status}`)
      },
    )
    req.on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)))
  })
}

/** Polls again until something changes: on a slow machine a long poll may end before all have begun. */
async function pollUntilMoved(tx: string): Promise<string> {
  for (;;) {
    const answer = await pollBy(tx)
    if (answer !== '200 pending') return answer
  }
}

const waitingIn = async (count: number) => {
  await expect.poll(() => world.openLongRequests().waits, { timeout: 60_000 }).toBe(count)
}

describe('a long poll for a status', () => {
  it('is answered at once where the status differs, is terminal, or the request has no wait', async () => {
    const [{ tx, entry }] = (await pending()) as [Awaited<ReturnType<typeof pending>>[0]]
    expect((await poll(tx, `wait=${WAIT_S}&since=not_found`)).body.status).toBe('pending')
    expect((await poll(tx, '')).headers.get('retry-after')).toBe('2')
    await world.append('mainnet', [entry])
    const { body, headers } = await poll(tx, `wait=${WAIT_S}&since=finalized`)
    expect(body.status).toBe('finalized')
    expect(headers.get('retry-after')).toBeNull()
    expect((await poll(tx, 'wait=x')).status).toBe(400)
    expect((await poll(tx, 'wait=1&since=done')).status).toBe(400)
  })

  it('is answered when the status changes', async () => {
    const tx = randomHash()
    const byDefault = poll(tx, `wait=${WAIT_S}`)
    const other = randomHash()
    const [{ entry, tx: known }] = (await pending()) as [Awaited<ReturnType<typeof pending>>[0]]
    const polls = [poll(known), poll(known, `wait=${WAIT_S}`)]
    await waitingIn(2)
    await world.append('mainnet', [bid({ from, name: freshName(), tx: other })])
    await waitingIn(2)
    await world.append('mainnet', [entry])
    for (const [i, answer] of (await Promise.all(polls)).entries())
      expect(answer.body, `poll ${i}`).toMatchObject({ status: 'finalized' })
    // no chain answers here, so only the tables can know a transaction
    expect((await byDefault).status).toBe(503)
  })

  it.each(['wait', 'w%61it'])(
    'may last longer than other requests, however the parameter is escaped: %s',
    async (wait) => {
      const quick = await startApi({ requestDeadlineMs: 500 })
      const tx = randomHash()
      const entry = bid({ from, name: freshName(), tx, block, logIndex: 0 })
      await quick.tail('mainnet', [tailBlock(block, [entry])])
      const reply = await quick.get(path(tx, `${wait}=2&since=pending`))
      await quick.stop()
      expect(reply).toMatchObject({ status: 200, body: { tx, status: 'pending' } })
    },
  )

  it('is answered with the same status after the time', async () => {
    const [{ tx }] = (await pending()) as [Awaited<ReturnType<typeof pending>>[0]]
    const startMs = performance.now()
    expect((await poll(tx, 'wait=1&since=pending')).body.status).toBe('pending')
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(1_000)
  })

  it('frees its place when the caller disconnects', async () => {
    const [{ tx }] = (await pending()) as [Awaited<ReturnType<typeof pending>>[0]]
    const leaving = new http.Agent()
    const left = pollBy(tx, leaving)
    await waitingIn(1)
    leaving.destroy()
    expect(await left).toBe('ECONNRESET')
    await waitingIn(0)
  })

  it(`wakes ${POLLERS} clients that wait for as many transactions, in bounded memory`, async () => {
    const bids = await pending(POLLERS)
    await Promise.all(bids.slice(0, 50).map(({ tx }) => poll(tx, '')))
    const before = alive()
    const polls = bids.map(({ tx }) => pollUntilMoved(tx))
    await waitingIn(POLLERS)
    expect(alive() - before).toBeLessThan(POLLERS * BYTES_EACH)
    await world.append(
      'mainnet',
      bids.map(({ entry }) => entry),
    )
    expect(new Set(await Promise.all(polls))).toEqual(new Set(['200 finalized']))
    await waitingIn(0)
  })
})

it('a long poll without a free place is answered at once, and all of them when the process stops', async () => {
  const limited = await startApi({ limits: LIMITS })
  const others = world
  const tx = randomHash()
  try {
    world = limited
    await world.tail('mainnet', [tailBlock(90, [bid({ from, name: freshName(), tx, block: 90 })])])
    const polls = Array.from({ length: MAX_LONG_POLLS.perClient + 1 }, () => pollBy(tx))
    // one was answered, the others wait
    expect(await Promise.race(polls)).toBe('200 pending')
    await waitingIn(MAX_LONG_POLLS.perClient)
    world.release()
    expect(new Set(await Promise.all(polls))).toEqual(new Set(['200 pending']))
    expect(await pollBy(tx)).toBe('200 pending')
  } finally {
    await limited.stop()
    world = others
  }
})
