import type { RequestListener, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { serveInTest } from '../../test/support/httpServer.js'
import { wholeResponses } from '../../test/support/wholeResponses.js'
import { Client, type ClientOptions, type EventsOptions } from './index.js'
import { readServerSentEvents } from './sse.js'

const bodyOf = (pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> =>
  new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece)
      controller.close()
    },
  })

async function taken<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

describe('readServerSentEvents', () => {
  const TEXT =
    ': hello\r\n\r\nid: 1\r\ndata: {"a":"é"}\r\n\r\nid:2\rdata:b\rdata: c\r\rretry: 1\nevent: x\ndata: d\n\nevent: y\n\ndata: e\n\ndata: cut'
  const EVENTS = [
    { id: '1', event: 'message', data: '{"a":"é"}' },
    { id: '2', event: 'message', data: 'b\nc' },
    { id: '2', event: 'x', data: 'd' },
    { id: '2', event: 'message', data: 'e' },
  ]

  it('finds the same events for any chunks of the stream', async () => {
    const bytes = new TextEncoder().encode(TEXT)
    const cuts = fc.uniqueArray(fc.integer({ min: 0, max: bytes.length }), { maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(cuts, async (places) => {
        const ends = [...places.sort((a, b) => a - b), bytes.length]
        const pieces = ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end))
        expect(await taken(readServerSentEvents(bodyOf(pieces)))).toEqual(EVENTS)
      }),
    )
  })

  it('ends a stream whose events have no end', async () => {
    const piece = new TextEncoder().encode(`data: ${'x'.repeat(100_000)}\n`)
    await expect(
      taken(readServerSentEvents(bodyOf(Array.from({ length: 20 }, () => piece)))),
    ).rejects.toMatchObject({
      code: 'unexpected',
    })
  })
})

/** A client of a service with this listener. */
const clientOf = async (listener: RequestListener, options: Partial<ClientOptions> = {}) =>
  new Client({ url: await serveInTest(listener), ...options })

/**
 * A service whose feed grows by one event with every stream, and closes each stream after its event. The generation
 * ends with the 20th event.
 */
async function feedOf(count: number) {
  let length = count
  const resumes: (string | null)[] = []
  const event = (i: number) => ({ id: `m-1-${i}` })
  const json = (res: ServerResponse, status: number, body: object) =>
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const client = await clientOf((req, res) => {
    const { pathname, searchParams } = new URL(req.url!, 'http://here')
    if (pathname === '/v1/events') {
      const start = Number(searchParams.get('nextPage') ?? 0)
      if (start > length)
        return json(res, 409, { error: 'feed_restarted', message: 'It began anew.' })
      const items = Array.from({ length: Math.min(3, length - start) }, (_, i) => event(start + i))
      const resume = String(start + items.length)
      return json(res, 200, {
        items,
        resume,
        ...(start + items.length < length && { nextPage: resume }),
      })
    }
    resumes.push(searchParams.get('resume'))
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    if (length === 20) {
      length = 0
      return void res.end('event: feed_restarted\ndata: {"error":"feed_restarted"}\n\n')
    }
    res.write(
      `: hello\n\nid: ${length + 1}\ndata: ${JSON.stringify(event(length))}\n\nid: 99\ndata: {"id":`,
    )
    length++
    setTimeout(() => req.socket.destroy(), 20)
  })
  return { client, resumes }
}

/** A service without events, whose stream sends heartbeats for ever. */
const silentFeed = (): Promise<Client> =>
  clientOf((req, res) => {
    if (!req.url!.startsWith('/v1/events/stream'))
      return void res
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"items":[],"resume":"0"}')
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    const beat = setInterval(() => res.write(': beat\n\n'), 20)
    res.on('close', () => clearInterval(beat))
  })

async function first(count: number, client: Client, options: EventsOptions = {}) {
  const events = []
  for await (const event of client.events(options)) {
    events.push(event)
    if (events.length === count) break
  }
  return events
}

describe('events', () => {
  const ids = (from: number, count: number) =>
    Array.from({ length: count }, (_, i) => `m-1-${from + i}`)

  it('come once and in order, over pages and interrupted streams', async () => {
    const { client, resumes } = await feedOf(7)
    const events = await first(10, client)
    expect(events.map(({ id }) => id)).toEqual(ids(0, 10))
    expect(resumes).toEqual(['7', '8', '9'])
  })

  it('continue after any of them', async () => {
    const { client } = await feedOf(8)
    const events = await first(9, client)
    for (const [i, { resume }] of events.entries())
      expect(
        (await first(2, client, { resume })).map(({ id }) => id),
        resume,
      ).toEqual(ids(i + 1, 2))
  })

  it('come by pages alone where responses have no stream', async () => {
    let asked = 0
    const client = await clientOf(
      (req, res) => {
        const { pathname, searchParams } = new URL(req.url!, 'http://here')
        if (pathname === '/v1/events/stream') return
        const at = Number(searchParams.get('nextPage') ?? 0)
        // each second page is empty
        const items = asked++ % 2 ? [{ id: `m-1-${at}` }] : []
        const page = { items, resume: String(at + items.length) }
        res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page))
      },
      { fetch: wholeResponses },
    )
    expect((await first(3, client)).map(({ id }) => id)).toEqual(ids(0, 3))
    expect(asked).toBe(6)
  })

  it('end with the feed without follow, and then throw at an outage', async () => {
    const { client, resumes } = await feedOf(7)
    expect((await taken(client.events({ follow: false }))).map(({ id }) => id)).toEqual(ids(0, 7))
    expect(resumes).toEqual([])
    const nobody = new Client({ url: 'http://127.0.0.1:1', retries: 0 })
    await expect(taken(nobody.events({ follow: false }))).rejects.toMatchObject({ code: 'network' })
  })

  it('end by a signal in a long stream too, even if its request was garbage-collected', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const client = await silentFeed()
    const stop = new AbortController()
    const done = taken(client.events({ signal: stop.signal }))
    await sleep(300)
    // each takes as long as all modules of this process are large
    for (let i = 0; i < 5; i++) {
      await sleep(20)
      collect()
    }
    stop.abort()
    await expect(Promise.race([done, sleep(5_000, 'it goes on')])).resolves.toEqual([])
  })

  it('go on past pages without events that are not the last', async () => {
    const asked: (string | null)[] = []
    const client = await clientOf((req, res) => {
      const token = new URL(req.url!, 'http://here').searchParams.get('nextPage')
      asked.push(token)
      const at = Number(token ?? 0)
      const items = at === 3 ? [{ id: 'a' }] : []
      const resume = String(at + 1)
      const page = at === 3 ? { items, resume } : { items, resume, nextPage: resume }
      res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page))
    })
    const seen: string[] = []
    for await (const { id } of client.events({ follow: false })) seen.push(id)
    expect(seen).toEqual(['a'])
    expect(asked).toEqual([null, '1', '2', '3'])
  })

  it.each([
    { name: 'a page', last: 'a', ids: ['a'] },
    { name: 'a piece of the stream', last: 'c', ids: ['a', 'b', 'c'] },
  ])('end by a signal at the current event, in $name', async ({ last, ids }) => {
    const client = await clientOf((req, res) => {
      const { pathname, searchParams } = new URL(req.url!, 'http://here')
      if (pathname !== '/v1/events/stream') {
        const items = searchParams.has('nextPage') ? [] : [{ id: 'a' }, { id: 'b' }]
        return void res
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ items, resume: '2' }))
      }
      res.writeHead(200, { 'content-type': 'text/event-stream' })
      res.write('id: 3\ndata: {"id":"c"}\n\nid: 4\ndata: {"id":"d"}\n\n')
    })
    const stop = new AbortController()
    const seen: string[] = []
    for await (const { id } of client.events({ signal: stop.signal })) {
      seen.push(id)
      if (id === last) stop.abort()
    }
    expect(seen).toEqual(ids)
  })

  it('end by a signal, and with the generation', async () => {
    const { client } = await feedOf(2)
    const stop = new AbortController()
    const seen: string[] = []
    for await (const { id } of client.events({ signal: stop.signal }))
      if (seen.push(id) === 3) stop.abort()
    expect(seen).toEqual(ids(0, 3))
    const { client: ending } = await feedOf(19)
    const received: string[] = []
    const all = async () => {
      for await (const { id } of ending.events()) received.push(id)
    }
    await expect(all()).rejects.toMatchObject({ code: 'feed_restarted', status: 409 })
    expect(received).toEqual(ids(0, 20))
    await expect(first(1, client, { resume: '50' })).rejects.toMatchObject({
      code: 'feed_restarted',
      status: 409,
    })
  })
})
