import { type FeedOrder, findSince, readClusterIds, readStretch } from '../../db/read/feed.js'
import { type FeedRow, type PublicEvent, publicEvents } from '../../registry/events.js'
import type { Network } from '../../registry/network.js'
import type { Context } from '../context.js'
import { ApiError } from '../errors.js'
import { openPage, type PagePosition, sealPage } from './pageToken.js'

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
  const isPlaced = await place(context, walk)
  const stretch = await readStretch(context.pool, walk.network, {
    order: walk.order,
    seq: walk.seq,
    floor: walk.floor,
    limit: isPlaced ? request.limit + 1 : 0,
    from: walk.from,
  })
  const { generation, headSeq } = stretch
  if (walk.generation !== null && walk.generation !== generation) throw restarted()
  const { items, next } = take(stretch.rows, walk, request.limit)
  const end = isPlaced ? { seq: walk.order === 'oldest' ? headSeq + 1 : walk.floor - 1, skip: 0 } : null
  const position = next ?? end ?? { seq: walk.seq ?? 1, skip: 0 }
  const token = sealPage(key, { ...walk, generation, ...position })
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

/** Cuts a page from entries; `next` is where the rest begins, null when there is none. */
function take(
  rows: readonly FeedRow[],
  walk: Walk,
  limit: number,
): { items: FeedItem[]; next: { seq: number; skip: number } | null } {
  const items: FeedItem[] = []
  for (const row of rows) {
    const events = publicEvents(row).map((event, i) => ({ event, number: row.publicFirst + i }))
    if (walk.order === 'newest') events.reverse()
    const start = row.seq === walk.seq ? walk.skip : 0
    for (let i = start; i < events.length; i++) {
      if (items.length === limit) return { items, next: { seq: row.seq, skip: i } }
      items.push({ ...events[i]!, actor: row.actor, atMs: row.atMs })
    }
  }
  return { items, next: null }
}

const serialsOf = (items: readonly FeedItem[]): number[] => [...new Set(items.map(({ event }) => event.cluster))]

const restarted = (): ApiError =>
  new ApiError(
    'feed_restarted',
    'The feed was started anew since this page token was given out: begin from the first page.',
  )

function missing(serial: number): never {
  throw new Error(`cluster ${serial} of the feed has no row`)
}
