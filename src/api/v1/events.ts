import { mapWithoutBlocking } from '../../ops/turns.js'
import { createV1EventWriter } from '../../registry/journal/events.js'
import { EVENTS, type EventFieldKind, type EventFields } from '../../registry/journal/eventTypes.js'
import { feedPage } from '../feed/feed.js'
import { type FeedStreams, openFeedStream } from '../feed/stream.js'
import { requireSigner } from '../http/address.js'
import { type Answer, answerOfJsonBytes, eventStreamAnswer } from '../http/answer.js'
import { ApiError } from '../http/errors.js'
import {
  enumParameter,
  type PageLimitBounds,
  pageLimitOf,
  type RequestQuery,
  wholeNumberParameter,
} from '../http/query.js'
import { declareRoute, type RouteRequest } from '../http/route.js'
import { okResponses, z } from '../http/schema.js'
import { chargeForListItems, feedPagePrice, STREAM_PRICE } from '../limits/costs.js'
import { addressSchema, clusterIdSchema } from './schemas.js'

const EVENTS_PAGE_LIMIT: PageLimitBounds = { default: 500, max: 1_000 }
const EVENT_ORDERS = ['oldest', 'newest'] as const

const EVENT_FIELD_SCHEMAS: Readonly<Record<EventFieldKind, z.ZodType>> = {
  cluster: clusterIdSchema,
  clusterOrNull: clusterIdSchema.nullable(),
  name: z.string(),
  wallet: addressSchema,
  wei: z.string(),
  flag: z.boolean(),
}

/** Schema of an event type's `data`. */
function eventDataSchema(fields: EventFields, description: string): z.ZodType {
  const shown = Object.values(fields).flatMap(({ kind, v1, ...texts }) =>
    v1 === null ? [] : [[v1, EVENT_FIELD_SCHEMAS[kind].openapi(texts)]],
  )
  return z.object(Object.fromEntries(shown)).openapi({ description })
}

const eventSchemas = Object.entries(EVENTS).map(([type, { fields, published }]) =>
  z.object({
    id: z.string().openapi({
      example: 'm-1-42',
      description: '`<m or t>-<generation>-<number>`, numbers without gaps',
    }),
    type: z.literal(type),
    from: addressSchema.describe(
      'The wallet that caused the event; the zero address where the wallet is not public',
    ),
    data: eventDataSchema(fields, published),
    isTestnet: z.boolean().describe('The event is of the testnet'),
    timestamp: z.int().describe('Milliseconds; never decreases'),
  }),
)
const EventSchema = z.union(eventSchemas).openapi('Event')

const actorSchema = addressSchema.optional().describe('Only events of this actor')

const eventsRoute = declareRoute.get('/v1/events', {
  costliestSample: { what: '1,000 events', query: { limit: '1000', orderBy: 'newest' } },
  listBounds: { 'items[]': 'page: limit, at most 1,000; nextPage' },
  summary: 'The history of public events, page by page',
  interfaceNotes:
    'Further event types ([events.md](events.md)), and `data.cluster_id` of `REGISTER_NAME`. `resume` continues after the page. `nextPage` is absent on the last page.',
  description:
    'Within one generation, events never change, move or disappear. Pages concatenate exactly in both orders while events are being added.',
  query: eventPageQuery(EVENTS_PAGE_LIMIT, 'Milliseconds').extend({
    nextPage: z
      .string()
      .optional()
      .describe(
        'Token of an earlier page. Omitted parameters are taken from the token, and fromTimestamp is ignored',
      ),
    from: actorSchema,
  }),
  price: feedPagePrice(EVENTS_PAGE_LIMIT),
  cacheSource: 'journal',
  responses: okResponses('A page', eventPageSchema(EventSchema)),
  errors: ['unsupported_address', 'invalid_page', 'feed_restarted'],
  async handle(request, context) {
    const page = await feedPage(context, {
      ...eventPageRequest(request, EVENTS_PAGE_LIMIT),
      from: requestedActor(request.query),
      sinceMs: sinceTimestampOf(request.query),
    })
    const write = createV1EventWriter(page.network, page.generation, page.idOf)
    return {
      ...eventPageAnswer(page, await mapWithoutBlocking(context.turn, page.items, write)),
      // a page token of the testnet may come without testnet=true. The cache key then names the wrong network
      isTransient: page.network !== context.network,
    }
  },
})

/** A page of the feed as JSON. @param items JSON of each event */
export function eventPageAnswer(
  { nextPage, resume, hiddenRows }: { nextPage?: string; resume: string; hiddenRows: number },
  items: readonly string[],
): Answer {
  const next = nextPage ? `"nextPage":"${nextPage}",` : ''
  const json = `{"items":[${items.join()}],${next}"resume":"${resume}"}`
  return chargeForListItems(answerOfJsonBytes(Buffer.from(json)), hiddenRows)
}

/** Query parameters of a feed page in v0.1 and v1. @param unit the unit of `fromTimestamp` */
export function eventPageQuery(limit: PageLimitBounds, unit: string) {
  const order = z.enum(EVENT_ORDERS).optional()
  return z.object({
    nextPage: z
      .string()
      .optional()
      .describe('Token of an earlier page; fromTimestamp is ignored then'),
    limit: z.int().min(1).default(limit.default).describe(`Clamped to ${limit.max}`),
    orderBy: order,
    sortBy: order.describe('The same as orderBy'),
    fromTimestamp: z.int().min(0).optional().describe(`${unit}, inclusive, in both orders`),
  })
}

export function eventPageSchema(item: z.ZodType) {
  return z.object({
    items: z.array(item),
    nextPage: z
      .string()
      .optional()
      .describe('Absent at the end. A page may have no items and a `nextPage`: go on'),
    resume: z.string().describe('Token that continues after this page, also after the last one'),
  })
}

/** Request for a feed page by a query, without its actor and its time bound. @throws ApiError invalid_request */
export function eventPageRequest({ query, isTestnet }: RouteRequest, limit: PageLimitBounds) {
  return {
    isTestnet,
    page: query.get('nextPage'),
    limit: pageLimitOf(query, limit),
    order: requestedOrder(query),
  }
}

/**
 * Lower time bound of a page, in the unit of the interface's version; undefined beside a page token. @throws ApiError
 * invalid_request
 */
export const sinceTimestampOf = (query: RequestQuery): number | undefined =>
  query.get('nextPage') === undefined ? wholeNumberParameter(query, 'fromTimestamp') : undefined

/**
 * Requested order of events; undefined where the query has none.
 * @throws ApiError invalid_request where `orderBy` and `sortBy` contradict each other
 */
function requestedOrder(query: RequestQuery): (typeof EVENT_ORDERS)[number] | undefined {
  const orderBy = enumParameter(query, 'orderBy', EVENT_ORDERS)
  const sortBy = enumParameter(query, 'sortBy', EVENT_ORDERS)
  if (orderBy && sortBy && orderBy !== sortBy)
    throw new ApiError(
      'invalid_request',
      'The parameters orderBy and sortBy contradict each other.',
    )
  return orderBy ?? sortBy
}

/**
 * Stored address of the wallet whose events are requested; undefined for all events.
 * @throws ApiError unsupported_address
 */
function requestedActor(query: RequestQuery): Buffer | undefined {
  const text = query.get('from')
  return text === undefined ? undefined : requireSigner(text, 'from').bytes
}

const createStreamRoute = (streams: FeedStreams) =>
  declareRoute.get('/v1/events/stream', {
    refusedSample: {
      what: 'an actor that is no address',
      query: { from: 'x' },
      error: 'unsupported_address',
    },
    costliestSample: { what: 'from the first event on', query: { fromTimestamp: '0' } },
    summary: 'New public events as server-sent events',
    description:
      'Each message is an event of `GET /v1/events`. Its `id` is a token that continues after the event, in both routes. The stream begins after `resume`, else at `fromTimestamp`, else with the next event. It ends after 4 to 5 minutes: continue after the last id. It ends with `event: feed_restarted` when a new generation begins.',
    query: z.object({
      resume: z
        .string()
        .optional()
        .describe(
          'Token of a page or id of a message, after which the stream begins. The header Last-Event-ID takes precedence',
        ),
      from: actorSchema,
      fromTimestamp: z
        .int()
        .min(0)
        .optional()
        .describe('Milliseconds, inclusive; 0 for all events'),
    }),
    isStream: true,
    price: STREAM_PRICE,
    responses: {
      200: {
        description: 'Messages, and a comment every 15 seconds',
        schema: z.string(),
        type: 'text/event-stream',
      },
    },
    errors: ['unsupported_address', 'invalid_page', 'feed_restarted'],
    async handle({ query, isTestnet }, context) {
      const token = context.caller?.lastEventId ?? query.get('resume')
      const filter = {
        from: requestedActor(query),
        sinceMs: wholeNumberParameter(query, 'fromTimestamp'),
      }
      return eventStreamAnswer(
        await openFeedStream(streams, context, { isTestnet, token, ...filter }),
      )
    },
  })

export const eventRoutes = (streams: FeedStreams) => [eventsRoute, createStreamRoute(streams)]
