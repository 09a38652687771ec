import { findWinningBids } from '../../db/registry/owners.js'
import { mapWithoutBlocking } from '../../ops/turns.js'
import { decodeBid } from '../../registry/journal/bid.js'
import { clusterOfEvent } from '../../registry/journal/eventForms.js'
import type { FeedItem } from '../../registry/journal/events.js'
import {
  EVENTS,
  type EventType,
  type PublicEvent,
  type V01EventType,
} from '../../registry/journal/eventTypes.js'
import { addressToWord, decodeWallet } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { feedPage } from '../feed/feed.js'
import { ApiError } from '../http/errors.js'
import { declareRoute } from '../http/route.js'
import { okResponses, z } from '../http/schema.js'
import { feedPagePrice } from '../limits/costs.js'
import {
  eventPageAnswer,
  eventPageQuery,
  eventPageRequest,
  eventPageSchema,
  sinceTimestampOf,
} from '../v1/events.js'
import { addressSchema, walletTypeSchema } from '../v1/schemas.js'

const EVENTS_PAGE_LIMIT = { default: 1_000, max: 5_000 }

/** Journal body of the winning bid of each name that moved to another cluster, by the name. */
type WinningBids = Awaited<ReturnType<typeof findWinningBids>>

/** Public events that v0.1 shows as an event of a given type. */
type EventShownAs<Type extends V01EventType> = {
  [One in EventType]: (typeof EVENTS)[One]['v01'] extends Type
    ? Extract<PublicEvent, { type: One }>
    : never
}[EventType]

interface EventView<Event extends PublicEvent> {
  description: string
  schema: z.ZodType
  /** Wallet that v0.1 shows for the event. */
  walletOf(event: Event, actor: Buffer | null, bids: WinningBids): Buffer
  dataOf(event: Event, bids: WinningBids): object | null
}

const EVENT_VIEWS: { readonly [Type in V01EventType]: EventView<EventShownAs<Type>> } = {
  register: {
    description:
      'A confirmed bid on the hub won a name for the cluster. Repeated with the new cluster when the name moves',
    schema: z.object({
      name: z.string(),
      weiAmount: z.int().describe('Exact beyond 2^53'),
    }),
    // a public actor signed the bid, or took the name along to another cluster. For a private actor, v0.1 shows the
    // wallet of the winning bid
    walletOf: ({ name }, actor, bids) => actor ?? requireWinningBid(name, bids).wallet,
    dataOf(event, bids) {
      const { amountWei } = 'amountWei' in event ? event : requireWinningBid(event.name, bids)
      return { name: event.name, weiAmount: amountWei.toString() }
    },
  },
  updateWallet: {
    description: 'A wallet was added, renamed or verified',
    schema: z.object({
      name: z.string(),
      isVerified: z.int().min(0).max(1).describe('1 for true'),
    }),
    walletOf: ({ wallet }) => wallet,
    dataOf: ({ name, isVerified }) => ({ name, isVerified: Number(isVerified) }),
  },
  removeWallet: {
    description: 'A wallet was removed from the cluster, or left it',
    schema: z.null(),
    walletOf: ({ wallet }) => wallet,
    dataOf: () => null,
  },
}

const eventSchemas = Object.entries(EVENT_VIEWS).map(([eventType, { description, schema }]) =>
  z
    .object({
      eventType: z.literal(eventType),
      clusterId: z.int().describe('Number of the cluster within its network'),
      bytes32Address: z
        .string()
        .describe('EVM: left-padded with zeros, Solana: its 32 bytes, other chains: a hash'),
      address: addressSchema.describe('The wallet; of `register` the one that signed the bid'),
      addressType: walletTypeSchema,
      data: schema,
      timestamp: z.int().describe('Seconds'),
    })
    .openapi({ description }),
)
const EventSchema = z.union(eventSchemas).openapi('EventV01')

/** The winning bid of a name. @throws ApiError unavailable where a rewind removed the bid after the page was read */
function requireWinningBid(name: string, bids: WinningBids) {
  const body = bids.get(name)
  const bid = body && decodeBid(body)
  if (bid) return bid
  throw new ApiError('unavailable', 'The feed was changed while it was read: ask again.')
}

/** JSON of an event in v0.1. The amount is an integer with all digits, because RFC 8259 does not limit numbers. */
function eventJson({ event, actor, atMs }: FeedItem, bids: WinningBids): string {
  const eventType = EVENTS[event.type].v01!
  const view: EventView<PublicEvent> = EVENT_VIEWS[eventType]
  const wallet = view.walletOf(event, actor, bids)
  const { type, text: address } = decodeWallet(wallet)
  const json = JSON.stringify({
    eventType,
    clusterId: clusterOfEvent(event),
    bytes32Address: toHex(addressToWord(wallet)),
    address,
    addressType: type,
    data: view.dataOf(event, bids),
    timestamp: Math.floor(atMs / 1_000),
  })
  return json.replace(/"weiAmount":"(\d+)"/, '"weiAmount":$1')
}

const eventsRoute = declareRoute.get('/v0.1/events', {
  costliestSample: { what: '5,000 events', query: { limit: '5000', orderBy: 'newest' } },
  listBounds: { 'items[]': 'page: limit, at most 5,000; nextPage' },
  successor: '/v1/events',
  summary: 'The history of names and wallets, page by page',
  interfaceNotes:
    '`removeWallet`, whose `data` is null. `addressType` may be a type of another chain. A name that moved is a further `register` with the new `clusterId` and the amount of its winning bid. `nextPage` is absent on the last page; `resume` continues after any.',
  description: 'The same feed as /v1/events. Page tokens are valid in both.',
  query: eventPageQuery(EVENTS_PAGE_LIMIT, 'Seconds'),
  price: feedPagePrice(EVENTS_PAGE_LIMIT),
  responses: okResponses('A page', eventPageSchema(EventSchema)),
  errors: ['invalid_page', 'feed_restarted'],
  async handle(request, context) {
    const since = sinceTimestampOf(request.query)
    const page = await feedPage(context, {
      ...eventPageRequest(request, EVENTS_PAGE_LIMIT),
      sinceMs: since === undefined ? undefined : Math.min(since * 1_000, Number.MAX_SAFE_INTEGER),
      shows: ({ type }) => EVENTS[type].v01 !== null,
    })
    const moved = page.items.flatMap(({ event }) =>
      event.type === 'TRANSFER_NAME' ? [event.name] : [],
    )
    const bids = await findWinningBids(context.pool, page.network, [...new Set(moved)])
    const items = await mapWithoutBlocking(context.turn, page.items, (item) =>
      eventJson(item, bids),
    )
    return eventPageAnswer(page, items)
  },
})

export const eventRoutes = [eventsRoute]
