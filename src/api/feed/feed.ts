import { type FeedOrder, findSince, readClusterIds, readStretch } from '../../db/journal/feed.js'
import { clustersOf, type FeedRow, type PublicEvent, publicEvents } from '../../registry/journal/events.js'
import type { Network } from '../../registry/primitives/network.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { openPage, type PagePosition, sealPage } from './cursor.js'

/** What a page of the feed is asked with. */
export interface FeedRequest {
  /** The network of the request, where no token names one. */
  network: Network
  /** The request says `testnet=true`: a token has to agree. */
  isTestnet: boolean
  /** Token of an earlier page. */
  page?: string | undefined
  /** Events at most, 1 or more. */
  limit: number
  order?: FeedOrder | undefined
  /** Stored address of the actor. */
  from?: Buffer | undefined
  /** Inclusive lower bound, milliseconds; a token outranks it. */
  sinceMs?: number | undefined
  /** Which events count, where not all of them do. */
  shows?: (event: PublicEvent) => boolean
}

/** A public event with what every version of the interface shows of it. */
export interface FeedItem {
  /** Number of the event within its network and generation, from 1, without gaps. */
  number: number
  event: PublicEvent
  actor: Buffer | null
  atMs: number
}

export interface FeedPage {
  network: Network
  generation: number
  items: FeedItem[]
  /** Public id of a cluster that the items name, by its serial. */
  idOf(serial: number): Buffer
  /** Absent at the end. */
  nextPage?: string
  /** Goes on after this page, also from the end, once there is more. */
  resume: string
}

/** Entries read at once where not all events count. */
const FILTERED_ROWS = 256

/** A walk to go on with; without a generation it has not begun. */
type Walk = Omit<PagePosition, 'generation' | 'seq'> & { generation: number | null; seq: number | null }

/**
 * A page of the public events of a network. Pages that follow one another by their tokens concatenate exactly, in both
 * orders, while events are being added.
 * @throws ApiError invalid_page for a token that is not ours or contradicts the request, feed_restarted for one of another
 *   generation
 */
export async function feedPage(context: Context, request: FeedRequest): Promise<FeedPage> {
  const key = await context.pageKey()
  const walk = request.page === undefined ? begin(request) : goOn(key, request, request.page)
  const asked = { ...walk }
  const isPlaced = await place(context, walk)
  const { generation, items, next, lastSeq } = isPlaced
    ? await collect(context, request, walk)
    : { ...(await readRows(context, walk, 0)), items: [], next: null, lastSeq: null }
  const token = sealPage(key, next ? { ...walk, generation, ...next } : { ...endOf(asked, walk, lastSeq), generation })
  const serials = serialsOf(items)
  const ids = await readClusterIds(context.pool, walk.network, serials, generation)
  // a rewind has switched over between the two questions
  if (ids.size < serials.length) throw restarted()
  return {
    network: walk.network,
    generation,
    items,
    idOf: (serial) => ids.get(serial) ?? missing(serial),
    ...(next ? { nextPage: token } : {}),
    resume: token,
  }
}

/**
 * Where a walk stands that came to its end. It moves with public events alone: a token that changed with every entry would
 * tell of private ones.
 * @param asked the walk before its time bound became an entry
 * @param lastSeq the last entry that was read
 */
function endOf(asked: Walk, walk: Walk, lastSeq: number | null): Walk & Position {
  if (lastSeq === null && asked.sinceMs !== null) return { ...asked, seq: asked.seq ?? 1 }
  if (walk.order === 'newest') return { ...walk, seq: walk.floor - 1, skip: 0 }
  return lastSeq === null ? { ...walk, seq: walk.seq ?? 1 } : { ...walk, seq: lastSeq + 1, skip: 0 }
}

function begin({ network, order = 'oldest', from, sinceMs }: FeedRequest): Walk {
  const seq = order === 'oldest' ? 1 : null
  return { network, generation: null, order, seq, skip: 0, floor: 1, from: from ?? null, sinceMs: sinceMs ?? null }
}

function goOn(key: Buffer, request: FeedRequest, token: string): Walk {
  const page = openPage(key, token)
  if (!page) throw new ApiError('invalid_page', 'The page token is not one that was given out here.')
  const contradicts =
    (request.isTestnet && page.network !== 'testnet') ||
    (request.order !== undefined && request.order !== page.order) ||
    (request.from !== undefined && !(page.from && request.from.equals(page.from)))
  if (contradicts)
    throw new ApiError(
      'invalid_page',
      'The page token was given out for other parameters: leave them out, or begin anew.',
    )
  return page
}

/**
 * Turns a walk's time bound into an entry.
 * @returns false while no entry is as late as that: there is nothing to give out, and the token keeps the time
 */
async function place(context: Context, walk: Walk): Promise<boolean> {
  if (walk.sinceMs === null) return true
  const found = await findSince(context.pool, walk.network, walk.sinceMs)
  if (walk.generation !== null && walk.generation !== found.generation) throw restarted()
  walk.generation = found.generation
  if (found.seq > found.headSeq) return false
  walk.floor = found.seq
  walk.seq = walk.order === 'oldest' ? found.seq : null
  walk.skip = 0
  walk.sinceMs = null
  return true
}

interface Collected {
  generation: number
  items: FeedItem[]
  /** Where the rest begins, null when there is none. */
  next: Position | null
  /** The last entry read, null where there was none. */
  lastSeq: number | null
}

/** The events of a page. Every entry read has an event; where not all events count, it may take several reads to fill it. */
async function collect(context: Context, { limit, shows }: FeedRequest, walk: Walk): Promise<Collected> {
  const asked = shows ? Math.max(limit + 1, FILTERED_ROWS) : limit + 1
  const items: FeedItem[] = []
  let from: Walk = walk
  let lastSeq: number | null = null
  for (;;) {
    const { generation, rows } = await readRows(context, from, asked)
    const next = take(items, rows, from, limit, shows)
    const last = rows.at(-1)
    lastSeq = last?.seq ?? lastSeq
    if (next || !last || rows.length < asked) return { generation, items, next, lastSeq }
    from = { ...from, generation, seq: last.seq + (walk.order === 'oldest' ? 1 : -1), skip: 0 }
  }
}

async function readRows(context: Context, { network, generation, order, seq, floor, from }: Walk, limit: number) {
  const stretch = await readStretch(context.pool, network, { order, seq, floor, limit, from })
  if (generation !== null && generation !== stretch.generation) throw restarted()
  return stretch
}

type Position = Pick<PagePosition, 'seq' | 'skip'>

/** Adds the events of entries to a page until it is full. @returns where the rest begins, null when there is none */
function take(
  items: FeedItem[],
  rows: readonly FeedRow[],
  walk: Walk,
  limit: number,
  shows: FeedRequest['shows'],
): Position | null {
  for (const row of rows) {
    const events = publicEvents(row).map((event, i) => ({ event, number: row.publicFirst + i }))
    if (walk.order === 'newest') events.reverse()
    const start = row.seq === walk.seq ? walk.skip : 0
    for (let i = start; i < events.length; i++) {
      if (shows && !shows(events[i]!.event)) continue
      if (items.length === limit) return { seq: row.seq, skip: i }
      items.push({ ...events[i]!, actor: row.actor, atMs: row.atMs })
    }
  }
  return null
}

const serialsOf = (items: readonly FeedItem[]): number[] => [
  ...new Set(items.flatMap(({ event }) => clustersOf(event))),
]

const restarted = (): ApiError =>
  new ApiError(
    'feed_restarted',
    'The feed was started anew since this page token was given out: begin from the first page.',
  )

function missing(serial: number): never {
  throw new Error(`cluster ${serial} of the feed has no row`)
}
