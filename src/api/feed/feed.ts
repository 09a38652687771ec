import {
  type FeedOrder,
  findFirstEventSince,
  readClusterIds,
  readJournalRange,
} from '../../db/feed/feed.js'
import { mapWithoutBlocking } from '../../ops/turns.js'
import type { FeedPage, FeedQuery } from '../../push/webhooks/deliver.js'
import { clustersOfEvent } from '../../registry/journal/eventForms.js'
import {
  createV1EventWriter,
  type FeedCursor,
  type FeedItem,
  type FeedRow,
  feedItemsOf,
} from '../../registry/journal/events.js'
import type { PublicEvent } from '../../registry/journal/eventTypes.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { decryptPageToken, encryptPageToken, FEED_BEGINNING, type PagePosition } from './cursor.js'

/**
 * A page of the feed for webhooks and other deliveries that this process starts. Each event is the JSON text that `GET
 * /v1/events` has for it.
 * @returns null where the feed has restarted since the cursor was issued
 */
export async function readFeedForDelivery(
  context: Context,
  { cursor, from, limit }: FeedQuery,
): Promise<FeedPage | null> {
  try {
    const page = await feedPage(context, {
      isTestnet: context.network === 'testnet',
      page: cursor ?? undefined,
      limit,
      order: 'oldest' as const,
      from: from ?? undefined,
    })
    const { network, generation, idOf, resume } = page
    const items = page.items.map(createV1EventWriter(network, generation, idOf))
    return {
      generation,
      items,
      last: page.items.at(-1)?.number ?? null,
      hasMore: 'nextPage' in page,
      resume,
    }
  } catch (error) {
    if (error instanceof ApiError && error.code === 'feed_restarted') return null
    throw error
  }
}

export interface FeedRequest {
  /** The query has `testnet=true`. A page token of the mainnet is refused then. */
  isTestnet: boolean
  /** Token of an earlier page. */
  page?: string | undefined
  /** Maximum events of the page, 1 or more. */
  limit: number
  /** Default: the order of `page`, else the oldest first. */
  order?: FeedOrder | undefined
  /** Stored address of the actor. Default: the actor of `page`, else all actors. */
  from?: Buffer | undefined
  /** Time before which events are not shown, Unix ms. Ignored with a page token, which has its own bound. */
  sinceMs?: number | undefined
  /** Filter of events; without it the page has all events. */
  shows?: (event: PublicEvent) => boolean
}

/** Maximum number of journal entries per read, so that other requests run between two reads. */
const MAX_ROWS_PER_READ = 1_024

/**
 * Number of journal entries after which a page ends, even if its filter has shown no event. The page's token continues
 * the walk.
 */
const maxPageRows = (limit: number): number => Math.max(256, 2 * limit)

/**
 * A walk through the feed at the position from which it is read. A walk that has not begun has no generation. In newest
 * order it has no `first` either, and begins at the newest event.
 */
type Walk = Omit<PagePosition, 'generation' | 'first'> & {
  generation: number | null
  first: number | null
}

/**
 * Reads a page of a network's public events. Consecutive pages have no gaps and no repetitions, in both orders, even
 * while events are added.
 * @throws ApiError invalid_page for a token of another service or a token that contradicts the request; feed_restarted
 * for a token of another generation, or of entries that the journal has lost; unavailable where a server that lags
 * behind does not have the page's clusters
 */
export async function feedPage(context: Context, request: FeedRequest) {
  const key = await context.pageKey()
  const walk =
    request.page === undefined
      ? beginWalk(context, request)
      : walkOfToken(key, request, request.page)
  const requestedWalk = { ...walk }
  const isPlaced = await applyTimeBound(context, walk)
  const { generation, newest, items, next, last, read } = isPlaced
    ? await collectEvents(context, request, walk)
    : { ...(await readEntriesOfWalk(context, walk, 0)), items: [], next: null, last: null, read: 0 }
  const end = next
    ? { ...walk, generation, ...next }
    : { ...endPosition(requestedWalk, walk, last), generation }
  const token = encryptPageToken(key, end)
  const serials = [...new Set(items.flatMap(({ event }) => clustersOfEvent(event)))]
  const ids = await readClusterIds(context.pool, walk.network, serials, generation)
  if (!serials.every((serial) => ids.has(serial)))
    throw await missingClustersError(context, generation)
  return {
    network: walk.network,
    generation,
    items,
    /** Number of the newest event when the page was read. */
    newest,
    /** Number of journal entries that were read beyond the number that a page without a filter needs. */
    hiddenRows: Math.max(0, read - request.limit - 1),
    /** Position at which the reading of the feed continues after this page. */
    end,
    /** Public id of a cluster that the items name, by its serial. */
    idOf: (serial: number): string => ids.get(serial)!,
    /** Token of the next page, absent at the end. */
    ...(next ? { nextPage: token } : {}),
    /** Token that continues after this page, also at the end of the feed. */
    resume: token,
  }
}

/**
 * Position after the last page of a walk, for its page token. A walk with a time bound that has read no entry keeps its
 * time bound.
 * @param requestedWalk the walk before its time bound became an event number
 * @param last the last entry that was read, null for none
 */
function endPosition(requestedWalk: Walk, walk: Walk, last: FeedRow | null): Walk & FeedCursor {
  if (last === null && requestedWalk.sinceMs !== null)
    return { ...requestedWalk, first: requestedWalk.first ?? 1 }
  if (walk.order === 'newest') return { ...walk, first: walk.floor - 1, skip: 0 }
  return last
    ? { ...walk, first: numberAfterEntry(last), skip: 0 }
    : { ...walk, first: walk.first ?? 1 }
}

const numberAfterEntry = ({ publicFirst, publicCount }: FeedRow): number =>
  publicFirst + publicCount

/** Token of a walk that begins after the feed's newest event. @param from stored address of the actor, null for all */
export async function feedEndToken(context: Context, from: Buffer | null): Promise<string> {
  const { network } = context
  const { generation, newest } = await readFeedEnd(context)
  const end = { ...FEED_BEGINNING, network, generation, from, first: newest + 1 }
  return encryptPageToken(await context.pageKey(), end)
}

const readFeedEnd = ({ pool, network }: Context) =>
  readJournalRange(pool, network, {
    order: 'oldest',
    first: null,
    floor: 1,
    limit: 0,
    events: 0,
    from: null,
  })

/**
 * The error for clusters of a page that have no rows. Either a rewind switched the generation between the two
 * queries, or a server that lags behind answered the second query, as during a fail-over.
 */
async function missingClustersError(context: Context, generation: number): Promise<ApiError> {
  if ((await readFeedEnd(context)).generation !== generation) return feedRestartedError()
  return new ApiError(
    'unavailable',
    'The database is behind what this page was read from. Ask again.',
  )
}

function beginWalk({ network }: Context, { order = 'oldest', from, sinceMs }: FeedRequest): Walk {
  return {
    ...FEED_BEGINNING,
    network,
    generation: null,
    order,
    first: order === 'oldest' ? 1 : null,
    from: from ?? null,
    sinceMs: sinceMs ?? null,
  }
}

function walkOfToken(key: Buffer, request: FeedRequest, token: string): Walk {
  const page = decryptPageToken(key, token)
  if (!page)
    throw new ApiError('invalid_page', 'The page token is not one that was given out here.')
  const contradicts =
    (request.isTestnet && page.network !== 'testnet') ||
    (request.order !== undefined && request.order !== page.order) ||
    (request.from !== undefined && !(page.from && request.from.equals(page.from)))
  const message =
    'The page token was given out for other parameters: leave them out, or begin anew.'
  if (contradicts) throw new ApiError('invalid_page', message)
  return page
}

/**
 * Replaces a walk's time bound by the number of the first event at or after that time.
 * @returns false while there is no such event; the token then keeps the time bound
 */
async function applyTimeBound(context: Context, walk: Walk): Promise<boolean> {
  if (walk.sinceMs === null) return true
  const firstEvent = await findFirstEventSince(context.pool, walk.network, walk.sinceMs)
  if (walk.generation !== null && walk.generation !== firstEvent.generation)
    throw feedRestartedError()
  walk.generation = firstEvent.generation
  if (firstEvent.first > firstEvent.newest) return false
  walk.floor = firstEvent.first
  walk.first = walk.order === 'oldest' ? firstEvent.first : null
  walk.skip = 0
  walk.sinceMs = null
  return true
}

/**
 * Reads the events of a page. A filter may hide the events of an entry, so a page may need several reads.
 * @returns the events, the first event of the next page (null at the end), the last entry that was read (null for none)
 * and the number of entries that were read
 */
async function collectEvents(context: Context, request: FeedRequest, walk: Walk) {
  const most = maxPageRows(request.limit)
  const wanted = request.limit + 1
  // the estimate is that a filter hides half of the entries
  let rowLimit = Math.min(request.shows ? 2 * wanted : wanted, most, MAX_ROWS_PER_READ)
  const events = request.shows ? Number.MAX_SAFE_INTEGER : walk.skip + request.limit
  const items: FeedItem[] = []
  let from: Walk = walk
  let last: FeedRow | null = null
  for (let read = 0; ; ) {
    const { generation, newest, rows } = await readEntriesOfWalk(context, from, rowLimit, events)
    read += rows.length
    const entries = await mapWithoutBlocking(context.turn, rows, (row) => ({
      publicFirst: row.publicFirst,
      ownItems: feedItemsOf(row),
    }))
    const next = takeEvents(items, entries, from, request)
    last = rows.at(-1) ?? last
    const page = { generation, newest, items, last, read }
    if (next || !last || rows.length < rowLimit) return { ...page, next }
    const following = {
      first: walk.order === 'oldest' ? numberAfterEntry(last) : last.publicFirst - 1,
      skip: 0,
    }
    if (read >= most) return { ...page, next: following }
    rowLimit = Math.min(most - read, MAX_ROWS_PER_READ)
    from = { ...from, generation, ...following }
  }
}

async function readEntriesOfWalk(context: Context, walk: Walk, limit: number, events = 0) {
  const { network, generation, order, first, floor, from } = walk
  const stretch = await readJournalRange(context.pool, network, {
    order,
    first,
    floor,
    limit,
    events,
    from,
  })
  if (generation !== null && generation !== stretch.generation) throw feedRestartedError()
  // the feed was rewound and now ends before this position: new events will get the numbers from there on
  if (Math.max(first ?? 0, floor) > stretch.newest + 1) throw feedRestartedError()
  return stretch
}

/**
 * Adds the entries' events to a page, up to the page's limit.
 * @returns position of the first event that did not fit; null where all events fit
 */
function takeEvents(
  items: FeedItem[],
  entries: readonly { publicFirst: number; ownItems: readonly FeedItem[] }[],
  walk: Walk,
  { limit, shows }: FeedRequest,
): FeedCursor | null {
  for (const { publicFirst, ownItems } of entries) {
    for (let i = publicFirst === walk.first ? walk.skip : 0; i < ownItems.length; i++) {
      const item = ownItems[walk.order === 'newest' ? ownItems.length - 1 - i : i]!
      if (shows && !shows(item.event)) continue
      if (items.length === limit) return { first: publicFirst, skip: i }
      items.push(item)
    }
  }
  return null
}

const feedRestartedError = (): ApiError =>
  new ApiError(
    'feed_restarted',
    'The feed was started anew since this page token was given out: begin from the first page.',
  )
