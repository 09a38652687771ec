import { once } from 'node:events'
import http from 'node:http'
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { readServerSentEvents } from '../../src/client/sse.js'
import { MAX_FEED_STREAMS } from '../../src/push/longRequests.js'
import { bid, freshName, randomAddress, startApi } from '../api/support.js'
import { useWorld } from '../support/useWorld.js'
import { LIMITS } from './limits.js'
import { alive } from './memory.js'

const STREAMS = 1_000
/** Heap and buffers per stream, including its reader, which runs in this process too. */
const BYTES_EACH = 40 * 1024
const WAIT = { timeout: 60_000, interval: 10 }

let world = useWorld(() => startApi())
const alice = randomAddress()
const bob = randomAddress()
const opened = new Set<AbortController>()

beforeAll(() => grow(20))
afterEach(async () => {
  for (const stream of opened) stream.abort()
  opened.clear()
  await expect.poll(() => world.openLongRequests().streams, WAIT).toBe(0)
})

const grow = (count: number) =>
  world.append(
    'mainnet',
    Array.from({ length: count }, (_, i) =>
      bid({ from: i % 3 === 0 ? bob : alice, name: freshName() }),
    ),
  )

interface Message {
  id: string
  data: string
}

/** Opens a stream that collects its messages. */
async function open(query = '', headers: Record<string, string> = {}) {
  const stop = new AbortController()
  opened.add(stop)
  const response = await fetch(`${world.url}/v1/events/stream?${query}`, {
    signal: stop.signal,
    headers,
  })
  expect(response.status, query).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const messages: Message[] = []
  const read = async () => {
    for await (const message of readServerSentEvents(response.body!)) messages.push(message)
  }
  const ended = read().then(
    () => 'ended',
    () => 'cut',
  )
  return { messages, ended, cut: () => stop.abort() }
}

/** All events of the feed, and the token of its end. */
async function feed() {
  const items: { from: string }[] = []
  for (let resume = ''; ; ) {
    const { body } = await world.get(`/v1/events?limit=1000&nextPage=${resume}`)
    items.push(...body.items)
    resume = body.resume
    if (!body.nextPage) return { items, resume }
  }
}
const itemsOf = (messages: readonly Message[]) => messages.map(({ data }) => JSON.parse(data))

describe('a stream of the feed', () => {
  it('has the same events as the pages, and their tokens are valid in both', async () => {
    const { items } = await feed()
    const { messages } = await open('fromTimestamp=0')
    await expect.poll(() => messages.length, WAIT).toBe(items.length)
    expect(itemsOf(messages)).toEqual(items)
    for (const at of [0, 1, 2, 7]) {
      const { body } = await world.get(`/v1/events?nextPage=${messages[at]!.id}&limit=1000`)
      expect(body.items, `after ${at}`).toEqual(items.slice(at + 1))
    }
  })

  it('continues with new events in order, filtered like pages', async () => {
    const { resume, items: before } = await feed()
    const all = await open(`resume=${resume}`)
    const next = await open()
    const ofBob = await open(`fromTimestamp=0&from=${bob}`)
    for (let i = 0; i < 5; i++) await grow(7)
    const { items } = await feed()
    const bobs = items.filter(({ from }) => from === bob)
    await expect
      .poll(() => [all, next, ofBob].map(({ messages }) => messages.length), WAIT)
      .toEqual([items.length - before.length, items.length - before.length, bobs.length])
    expect(itemsOf(all.messages)).toEqual(items.slice(before.length))
    expect(next.messages).toEqual(all.messages)
    expect(itemsOf(ofBob.messages)).toEqual(bobs)
  })

  it('has each event exactly once over several connections', async () => {
    const { items: before, resume } = await feed()
    const got: Message[] = []
    for (let round = 0; round < 8; round++) {
      const { messages, cut, ended } = await open(
        `resume=${resume}`,
        got.length ? { 'last-event-id': got.at(-1)!.id } : {},
      )
      const growing = grow(11)
      await expect.poll(() => messages.length, WAIT).toBeGreaterThan(round)
      cut()
      await Promise.all([ended, growing])
      got.push(...messages)
    }
    const last = await open(`resume=${resume}`, { 'last-event-id': got.at(-1)!.id })
    const { items } = await feed()
    await expect
      .poll(() => got.length + last.messages.length, WAIT)
      .toBe(items.length - before.length)
    expect(itemsOf([...got, ...last.messages])).toEqual(items.slice(before.length))
  })

  it('refuses tokens that are invalid, of the other order, or of other parameters', async () => {
    const newest = (await world.get('/v1/events?orderBy=newest&limit=1')).body.resume
    const { resume } = await feed()
    for (const query of [
      'resume=x',
      `resume=${newest}`,
      `resume=${resume}&from=${bob}`,
      `resume=${resume}&testnet=true`,
    ])
      expect((await world.get(`/v1/events/stream?${query}`)).body.error, query).toBe('invalid_page')
    const head = await fetch(`${world.url}/v1/events/stream`, { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it('is forgotten when its caller disconnects while it waits for a page', async () => {
    await grow(150)
    const leave = () =>
      new Promise<void>((resolve) => {
        const request = http.get(`${world.url}/v1/events/stream?fromTimestamp=0`, (response) =>
          response.once('data', () => {
            request.destroy()
            resolve()
          }),
        )
        request.on('error', () => {})
      })
    await Promise.all(Array.from({ length: 30 }, leave))
    await expect.poll(() => world.openLongRequests().streams, WAIT).toBe(0)
    const { items } = await feed()
    const { messages, cut, ended } = await open('fromTimestamp=0')
    // its turn comes after the others' turns
    await expect.poll(() => messages.length, WAIT).toBe(items.length)
    cut()
    await ended
    await expect.poll(() => world.openLongRequests().streams, WAIT).toBe(0)
    const read = vi.spyOn(world.pool, 'query')
    await grow(1)
    await new Promise((resolve) => setTimeout(resolve, 500))
    const texts = read.mock.calls.map(([statement]) => (statement as { text?: string }).text ?? '')
    read.mockRestore()
    // nobody follows the end of the feed
    expect(texts.filter((text) => text.includes('j.public_first'))).toEqual([])
  })

  it('reads the pages that a slow reader has missed', async () => {
    const { resume, items: before } = await feed()
    const response = await new Promise<http.IncomingMessage>((resolve) =>
      http.get(`${world.url}/v1/events/stream?resume=${resume}`, resolve),
    )
    response.pause()
    // more than the system buffers for a socket
    for (let i = 0; i < 24; i++) await grow(1_000)
    const got: string[] = []
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        response.on('data', (bytes) => controller.enqueue(bytes))
      },
    })
    const read = async () => {
      for await (const { data } of readServerSentEvents(body)) got.push(JSON.parse(data).id)
    }
    // the body never ends; the reader stops long after the test
    read().catch(() => {})
    response.resume()
    const number = (id: string) => Number(id.split('-')[2])
    const newest = (await world.get('/v1/events?orderBy=newest&limit=1')).body.items[0].id
    await expect.poll(() => got.at(-1), WAIT).toBe(newest)
    expect(got.map(number)).toEqual(got.map((_, i) => before.length + 1 + i))
    response.destroy()
  })

  it(`costs little while idle, ${STREAMS} of them, and reaches all`, async () => {
    const agent = new http.Agent({ maxSockets: Number.POSITIVE_INFINITY })
    const before = alive()
    const chunks: string[] = []
    const responses = await Promise.all(
      Array.from({ length: STREAMS }, async (_, i) => {
        const [response] = (await once(
          http.get(`${world.url}/v1/events/stream`, { agent }),
          'response',
        )) as [http.IncomingMessage]
        chunks[i] = ''
        response.on('data', (bytes: Buffer) => {
          chunks[i] = `${chunks[i]}${bytes}`
        })
        return response
      }),
    )
    await expect.poll(() => world.openLongRequests().streams, WAIT).toBe(STREAMS)
    const each = (alive() - before) / STREAMS
    expect(each).toBeLessThan(BYTES_EACH)
    const cpu = process.cpuUsage()
    const startMs = performance.now()
    await new Promise((resolve) => setTimeout(resolve, 2_000))
    const { user, system } = process.cpuUsage(cpu)
    const share = (user + system) / 1_000 / (performance.now() - startMs)
    console.info(
      `idle streams: ${Math.round(each)} bytes each, ${(share * 100).toFixed(1)} % of a processor`,
    )
    await grow(1)
    const hasEvent = (text: string) => text.includes('REGISTER_NAME')
    await expect.poll(() => chunks.filter(hasEvent).length, WAIT).toBe(STREAMS)
    for (const response of responses) response.destroy()
    // heartbeats come between the events, at each stream's own time
    const eventsOf = (text: string) => text.match(/^data: .*$/gm)?.join()
    expect(new Set(chunks.map(eventsOf)).size).toBe(1)
  })

  it('reports a restart of the feed, and is refused afterwards', async () => {
    const { resume } = await feed()
    const { messages, ended } = await open(`resume=${resume}`)
    await world.pool.query('UPDATE journal_heads SET feed_generation = feed_generation + 1')
    await grow(1)
    expect(await ended).toBe('ended')
    expect(itemsOf(messages).map(({ error }) => error)).toEqual(['feed_restarted'])
    expect(await world.get(`/v1/events/stream?resume=${resume}`)).toMatchObject({ status: 409 })
  })
})

it('streams are limited per address, and end when the process stops', async () => {
  const others = world
  world = await startApi({ limits: LIMITS })
  try {
    const streams = await Promise.all(
      Array.from({ length: MAX_FEED_STREAMS.perClient }, () => open()),
    )
    const refused = await world.get('/v1/events/stream')
    expect([refused.body.error, refused.headers.get('retry-after')]).toEqual(['rate_limited', '60'])
    streams[0]!.cut()
    await expect
      .poll(() => world.openLongRequests().streams, WAIT)
      .toBe(MAX_FEED_STREAMS.perClient - 1)
    streams.push(await open())
    world.release()
    expect(await Promise.all(streams.slice(1).map(({ ended }) => ended))).toEqual(
      streams.slice(1).map(() => 'ended'),
    )
    expect(await (await open()).ended).toBe('ended')
  } finally {
    await world.stop()
    world = others
  }
})

it('a client without a stream takes one from clients that hold all streams of the process', async () => {
  const others = world
  world = await startApi({ limits: LIMITS })
  const agent = new http.Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const openFrom = async (localAddress: string) => {
    const request = http.get(`${world.url}/v1/events/stream`, { agent, localAddress })
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    response.resume().on('error', () => {})
    return response
  }
  try {
    const addresses = MAX_FEED_STREAMS.total / MAX_FEED_STREAMS.perClient
    const crowd = await Promise.all(
      Array.from({ length: MAX_FEED_STREAMS.total }, (_, i) =>
        openFrom(`127.0.1.${i % addresses}`),
      ),
    )
    expect(crowd.filter(({ statusCode }) => statusCode === 200)).toHaveLength(
      MAX_FEED_STREAMS.total,
    )
    const newcomer = await openFrom('127.0.2.1')
    expect(newcomer.statusCode).toBe(200)
    await expect.poll(() => crowd.filter(({ complete }) => complete).length, WAIT).toBe(1)
    expect(world.openLongRequests().streams).toBe(MAX_FEED_STREAMS.total)
    // an address that already has a stream takes none
    const again = await Promise.all(
      Array.from({ length: addresses }, (_, i) => openFrom(`127.0.1.${i}`)),
    )
    expect(new Set(again.map(({ statusCode }) => statusCode))).toEqual(new Set([429, 503]))
    for (const response of [...crowd, newcomer]) response.destroy()
  } finally {
    await world.stop()
    world = others
  }
})

it('streams of an address that are behind the feed do not delay the stream of another address', async () => {
  const others = world
  world = await startApi({ limits: LIMITS })
  const events = 2_000
  const openFrom = async (localAddress: string) => {
    const path = `${world.url}/v1/events/stream?fromTimestamp=0`
    const request = http.get(path, { agent: false, localAddress }).on('error', () => {})
    const [response] = (await once(request, 'response')) as [http.IncomingMessage]
    expect(response.statusCode).toBe(200)
    let text = ''
    response
      .on('error', () => {})
      .on('data', (bytes) => {
        text += bytes
      })
    return { response, count: () => text.split('\ndata: ').length - 1 }
  }
  try {
    await grow(events)
    const total = (await feed()).items.length
    const crowd = await Promise.all(Array.from({ length: 30 }, () => openFrom('127.0.1.1')))
    const newcomer = await openFrom('127.0.2.1')
    await expect.poll(newcomer.count, WAIT).toBe(total)
    expect(Math.max(...crowd.map(({ count }) => count()))).toBeLessThan(total / 2)
    for (const { response } of [...crowd, newcomer]) response.destroy()
  } finally {
    await world.stop()
    world = others
  }
})

it('a stream from a time in the future has the later events, even if they come while it ends', async () => {
  const others = world
  world = await startApi()
  try {
    await grow(3)
    const later = await open(`fromTimestamp=${Date.now() + 3_600_000}`)
    const now = await open()
    await grow(1)
    await expect
      .poll(() => itemsOf(now.messages).map(({ type }) => type), WAIT)
      .toContain('REGISTER_NAME')
    expect(later.messages).toEqual([])
    const growing = Array.from({ length: 20 }, () => grow(5))
    world.release()
    await Promise.all(growing)
    expect(await now.ended).toBe('ended')
    expect((await world.get('/v1/networks')).status).toBe(200)
  } finally {
    await world.stop()
    world = others
  }
})
