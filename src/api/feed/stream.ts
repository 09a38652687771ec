import type { ServerResponse } from 'node:http'
import type { TailEvent } from '../../push/feedTail.js'
import { drained } from '../../push/streams.js'
import { eventWriter } from '../../registry/journal/events.js'
import { NOBODY } from '../../registry/primitives/address.js'
import type { Context } from '../http/context.js'
import { ApiError, errorAnswer, toApiError } from '../http/errors.js'
import { endToken, feedPage } from './feed.js'
import { frame, tokenAfter } from './frame.js'

/** Events that are written at once to a stream that is behind: what may lie unread in memory. */
const PAGE_EVENTS = 100
/** Time after which a browser connects again, ms. */
const RETRY_MS = 2_000

/** Request for a stream. */
export interface StreamRequest {
  isTestnet: boolean
  /** Token of a page, or id of an event; without it and `sinceMs` the stream begins with what comes next. */
  token: string | undefined
  from: Buffer | undefined
  sinceMs: number | undefined
}

type Page = Awaited<ReturnType<typeof feedPage>>

/**
 * Opens a stream of the feed, from a token on.
 * @returns function that writes it to a response whose head was sent
 * @throws ApiError as feedPage, rate_limited and unavailable where no place is free
 */
export async function openStream(context: Context, request: StreamRequest): Promise<(res: ServerResponse) => void> {
  const { token = await beginning(context, request), ...rest } = request
  const page = await feedPage(context, { ...rest, page: token, limit: PAGE_EVENTS, order: 'oldest' })
  takePlace(context)
  const key = await context.pageKey()
  return (res) => {
    const stream = new Stream({ ...context, network: page.network }, { res, key, from: request.from ?? page.end.from })
    void stream.run(page, token)
  }
}

/** @returns undefined where the walk begins at a time */
const beginning = async (context: Context, { sinceMs, from }: StreamRequest): Promise<string | undefined> =>
  sinceMs === undefined ? endToken(context, from ?? null) : undefined

function takePlace({ streams, caller }: Context): void {
  const free = streams.places.take(caller!.address)
  if (free === 'total') throw new ApiError('unavailable', 'This process has as many streams as it serves.')
  if (free === 'perClient')
    throw new ApiError('rate_limited', 'Your address has as many streams as one may have.', {}, STREAM_LIMIT)
  caller!.whenGone(free)
}

const STREAM_LIMIT = { headers: { 'retry-after': '60' }, limit: 'streams' } as const

interface Target {
  res: ServerResponse
  key: Buffer
  /** Stored address of the actor, null for all. */
  from: Buffer | null
}

/** A stream: pages while it is behind, then what the tail reads for all. */
class Stream {
  readonly #context: Context
  readonly #target: Target

  constructor(context: Context, target: Target) {
    this.#context = context
    this.#target = target
  }

  async run(first: Page, token: string | undefined): Promise<void> {
    const { res } = this.#target
    const { streams } = this.#context
    // an id without data sets the place from which a browser goes on
    this.#write(`retry: ${RETRY_MS}\n${token === undefined ? '' : `id: ${token}\n`}\n`)
    if (!streams.open(res)) return void res.end()
    try {
      // a reader who left while his page was read would follow for ever: his connection closes no second time
      for (let page: Page | null = first; page && !res.destroyed; ) {
        if (page.items.length > 0) this.#write(this.#written(page))
        const next: string | null = page.nextPage ?? (await this.#follow(page))
        if (next === null || !(await drained(res))) return
        page = await streams.page(res, () => this.#page(next))
      }
    } catch (error) {
      this.#refuse(toApiError(error))
    }
  }

  #page(page: string): Promise<Page> {
    return feedPage(this.#context, { isTestnet: false, page, limit: PAGE_EVENTS })
  }

  /** Writes, unless the stream has ended meanwhile: a write after the end would be an error of the process. */
  #write(text: string | Buffer): void {
    const { res } = this.#target
    if (!res.writableEnded && !res.destroyed) res.write(text)
  }

  /** Tells why it ends; its last id leads on, except after a restart of the feed. */
  #refuse(error: ApiError): void {
    const { res } = this.#target
    if (error.code === 'feed_restarted')
      this.#write(`event: feed_restarted\ndata: ${JSON.stringify(errorAnswer(error).body)}\n\n`)
    res.end()
  }

  #written({ network, generation, idOf, items, end }: Page): string {
    const write = eventWriter(network, generation, idOf)
    return items.map((item) => frame(tokenAfter(this.#target.key, end, item), write(item))).join('')
  }

  /** Follows the end of the feed. @returns token of where the stream is behind again; null once it has ended */
  #follow({ network, generation, newest, end, resume }: Page): Promise<string | null> {
    const { res, key } = this.#target
    const tail = this.#context.tails[network]
    return new Promise((resolve) => {
      const leave = tail.follow(generation, newest + 1, {
        take: (events) => {
          const last = this.#take(events, { after: newest, sinceMs: end.sinceMs ?? 0 })
          if (last && res.writableNeedDrain) stop(tokenAfter(key, end, last))
        },
        restart: () => {
          this.#refuse(RESTARTED)
          stop(null)
        },
      })
      const close = () => stop(null)
      const stop = (token: string | null) => {
        res.off('close', close)
        leave?.()
        resolve(token)
      }
      if (leave) res.once('close', close)
      else void tail.look().then(() => resolve(resume))
    })
  }

  /** Writes what of the tail's events the stream shows and lacks. @returns the last of them all that it has now */
  #take(events: readonly TailEvent[], { after, sinceMs }: { after: number; sinceMs: number }): TailEvent | null {
    const [first, last] = [events[0]!, events.at(-1)!]
    if (last.number <= after) return null
    // neither numbers nor times decrease
    const isAll = first.number > after && first.atMs >= sinceMs
    const fresh = isAll ? events : events.filter(({ number, atMs }) => number > after && atMs >= sinceMs)
    const bytes = bytesFor(fresh, this.#target.from)
    if (bytes.length > 0) this.#write(bytes)
    return last
  }
}

/** Bytes of events by the actor that is followed, in hex. */
const written = new WeakMap<readonly TailEvent[], Map<string, Buffer>>()

/** Bytes of events that a filter shows: the same for all who get the same, however many read them slowly. */
function bytesFor(events: readonly TailEvent[], from: Buffer | null): Buffer {
  const known = written.get(events) ?? new Map<string, Buffer>()
  written.set(events, known)
  const key = from?.toString('hex') ?? ''
  let bytes = known.get(key)
  if (!bytes) {
    const shown = from === null ? events : events.filter(({ actor }) => isBy(from, actor))
    bytes = Buffer.concat(shown.map((event) => (from === null ? event.frame : event.ownFrame())))
    known.set(key, bytes)
  }
  return bytes
}

/** Tells whether a filter shows an actor; the zero address stands for private ones too. */
const isBy = (from: Buffer, actor: Buffer | null): boolean => from.equals(actor ?? NOBODY)

const RESTARTED = new ApiError('feed_restarted', 'The feed was started anew: begin from the first page.')
