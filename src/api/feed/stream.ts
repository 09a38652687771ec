import type { ServerResponse } from 'node:http'
import { setTimeout } from 'node:timers/promises'
import type { FairQueue } from '../../ops/fairQueue.js'
import type { CapacityLimiter } from '../../push/capacityLimiter.js'
import type { SerializedEvent } from '../../push/feedReader.js'
import type { FeedTail } from '../../push/feedTail.js'
import { PAGE_READ_INTERVAL_MS, sendHeartbeats, waitForDrain } from '../../push/streams.js'
import {
  createV1EventWriter,
  type FeedItem,
  feedCursorAfter,
} from '../../registry/journal/events.js'
import { STORED_ZERO_ADDRESS } from '../../registry/primitives/address.js'
import type { Context } from '../http/context.js'
import { ApiError, errorAnswer, toApiError } from '../http/errors.js'
import { encryptPageToken, type PagePosition } from './cursor.js'
import { feedEndToken, feedPage } from './feed.js'

/**
 * Maximum number of events in a page that is written to a stream behind the feed. The page's bytes stay in memory until
 * the client reads them.
 */
const MAX_PAGE_EVENTS = 100
/**
 * Maximum number of events in the first page. The price of opening a stream covers this page. Later pages are queued.
 */
const MAX_FIRST_PAGE_EVENTS = 50
/** Time after which a browser reopens an ended stream, ms. */
const RETRY_MS = 2_000

/** Resources that all open streams of a process share. */
export interface FeedStreams {
  /** Places of open streams, limited for the process and for each client. */
  places: CapacityLimiter
  /** Waits for the newest events, for all streams. */
  tail: FeedTail
  /** Queue in which streams behind the feed read their pages. */
  pages: FairQueue
  /** Fires when this process stops. */
  ended: AbortSignal
}

export interface FeedStreamRequest {
  isTestnet: boolean
  /** Token of a page, or id of an event. Without it and without `sinceMs` the stream begins with the next event. */
  token: string | undefined
  from: Buffer | undefined
  sinceMs: number | undefined
}

/** Selection of the events that a stream shows, without the stream's position. */
type StreamWalk = Omit<PagePosition, 'first' | 'skip' | 'sinceMs'>

type StreamPage = Awaited<ReturnType<typeof feedPage>>

/**
 * Opens a stream of the events after a token.
 * @returns function that writes the stream to a response whose head was sent
 * @throws ApiError as `feedPage`; rate_limited if the client's address, and unavailable if this process, has as many
 * streams as allowed
 */
export async function openFeedStream(
  streams: FeedStreams,
  context: Context,
  request: FeedStreamRequest,
): Promise<(res: ServerResponse) => void> {
  let { token } = request
  if (token === undefined && request.sinceMs === undefined)
    token = await feedEndToken(context, request.from ?? null)
  const page = await feedPage(context, {
    ...request,
    page: token,
    limit: MAX_FIRST_PAGE_EVENTS,
    order: 'oldest',
  })
  const stop = takeStreamPlace(streams, context)
  const reader = {
    streams,
    context,
    stop,
    key: await context.pageKey(),
    from: request.from ?? page.end.from,
  }
  return (res) => void runStream({ ...reader, res }, page, token)
}

/**
 * Reserves a place for a stream of the caller.
 * @returns controller that ends the stream. It is aborted once the caller has disconnected, or when the place goes to
 * another address
 */
function takeStreamPlace({ places }: FeedStreams, { caller }: Context): AbortController {
  const stop = new AbortController()
  const free = places.take(caller!.address, 1, () => stop.abort())
  if (free === 'total')
    throw new ApiError('unavailable', 'This process has as many streams as it serves.')
  if (free === 'perClient')
    throw new ApiError(
      'rate_limited',
      'Your address has as many streams as one may have.',
      {},
      STREAM_LIMIT_OPTIONS,
    )
  caller!.whenGone(() => {
    free()
    stop.abort()
  })
  return stop
}

const STREAM_LIMIT_OPTIONS = { headers: { 'retry-after': '60' }, limit: 'streams' } as const

/**
 * A reader of a stream. A stream that is behind the feed reads pages. Later it gets the newest events from `FeedTail`,
 * which waits once for all streams.
 */
interface StreamReader {
  streams: FeedStreams
  context: Context
  res: ServerResponse
  key: Buffer
  /** Stored address of the actor whose events are shown, null for all. */
  from: Buffer | null
  /** Ends the stream. */
  stop: AbortController
}

async function runStream(
  reader: StreamReader,
  first: StreamPage,
  token: string | undefined,
): Promise<void> {
  const { streams, context, res, key, stop } = reader
  // an id without data sets the position from which a browser reconnects
  writeIfOpen(res, `retry: ${RETRY_MS}\n${token === undefined ? '' : `id: ${token}\n`}\n`)
  sendHeartbeats(res, stop)
  // ends the response immediately, also while the stream waits for its next page
  stop.signal.addEventListener('abort', () => res.end(), { once: true })
  try {
    for (let page = first; ; ) {
      const { network, generation, idOf, items, end } = page
      const json = createV1EventWriter(network, generation, idOf)
      if (items.length > 0)
        writeIfOpen(
          res,
          items.map((item) => eventFrame(tokenAfter(key, end, item), json(item))).join(''),
        )
      const next: string | null = page.nextPage ?? (await followFeed(reader, page))
      if (next === null || !(await waitForDrain(res)) || streams.ended.aborted) return
      page = await streams.pages.run(context.caller!.address, () => readNextPage(reader, next))
    }
  } catch (error) {
    reportRestart(res, toApiError(error))
  } finally {
    stop.abort()
    res.end()
  }
}

/**
 * Reads a page. Returns after `PAGE_READ_INTERVAL_MS` at the earliest, because only then the next stream may read.
 * @throws the signal's reason where the stream has ended
 */
async function readNextPage({ context, stop }: StreamReader, token: string): Promise<StreamPage> {
  stop.signal.throwIfAborted()
  const read = feedPage(context, { isTestnet: false, page: token, limit: MAX_PAGE_EVENTS })
  const [page] = await Promise.all([read, setTimeout(PAGE_READ_INTERVAL_MS)])
  return page
}

/** Writes to a response that has not ended: Node raises an unhandled error for a write after the end. */
function writeIfOpen(res: ServerResponse, text: string | Buffer): void {
  if (!res.writableEnded && !res.destroyed) res.write(text)
}

/** Sends an event for a restart of the feed. After any other error the client can reconnect with the last id. */
function reportRestart(res: ServerResponse, error: ApiError): void {
  if (error.code === 'feed_restarted')
    writeIfOpen(res, `event: feed_restarted\ndata: ${errorAnswer(error).content.text}\n\n`)
}

const FEED_RESTARTED_ERROR = new ApiError(
  'feed_restarted',
  'The feed was started anew: begin from the first page.',
)

/**
 * Follows the newest events of the feed.
 * @returns token from which the stream has to catch up, once its client reads too slowly; null once the stream has
 * ended
 * @throws ApiError feed_restarted
 */
async function followFeed({ streams, res, key, from, stop }: StreamReader, page: StreamPage) {
  const { network, generation, newest, end } = page
  const walk = { network, generation, from, order: 'oldest', floor: 1 } as const
  const sinceMs = end.sinceMs ?? 0
  for (let next = newest + 1; ; ) {
    const events = await streams.tail.next(network, generation, next, stop.signal)
    if (events === null) return null
    if (events === 'restarted') throw FEED_RESTARTED_ERROR
    const last = events.at(-1)!
    // events are in order of time, so if the first one is shown, all are
    const areAllShown = events[0]!.atMs >= sinceMs
    const bytes = bytesForActor(
      areAllShown ? events : events.filter(({ atMs }) => atMs >= sinceMs),
      key,
      walk,
    )
    if (bytes.length > 0) writeIfOpen(res, bytes)
    if (res.writableNeedDrain) return tokenAfter(key, end, last)
    next = last.number + 1
  }
}

/** Bytes to write for a list of events, by the hex of an actor's stored address. The key of all actors is empty. */
const bytesOfEvents = new WeakMap<readonly SerializedEvent[], Map<string, Buffer>>()

/**
 * Bytes of the events that a stream shows. Streams of the same actor share the bytes, because the page token in each
 * event takes about 30 µs to make, and thousands of streams may follow one actor.
 */
function bytesForActor(events: readonly SerializedEvent[], key: Buffer, walk: StreamWalk): Buffer {
  const known = bytesOfEvents.get(events) ?? new Map<string, Buffer>()
  bytesOfEvents.set(events, known)
  const { from } = walk
  const actor = from?.toString('hex') ?? ''
  // a filter for the zero address also shows events of private actors
  const shownEvents = () =>
    from === null ? events : events.filter(({ actor }) => from.equals(actor ?? STORED_ZERO_ADDRESS))
  const makeBytes = () =>
    Buffer.from(
      shownEvents()
        .map((event) => eventFrame(tokenAfter(key, walk, event), event.json))
        .join(''),
    )
  const bytes = known.get(actor) ?? makeBytes()
  known.set(actor, bytes)
  return bytes
}

/** Token that continues after an event. */
const tokenAfter = (key: Buffer, walk: StreamWalk, item: FeedItem): string =>
  encryptPageToken(key, { ...walk, ...feedCursorAfter(item), sinceMs: null })

/**
 * A message of an event stream (WHATWG HTML, 9.2). A client that reconnects with the message's id continues after this
 * message.
 */
const eventFrame = (token: string, json: string): string => `id: ${token}\ndata: ${json}\n\n`
