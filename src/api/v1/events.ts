import { actorText, eventData, eventId } from '../../registry/journal/events.js'
import { parseAddress } from '../../registry/primitives/address.js'
import { feedPage } from '../feed/feed.js'
import { ok } from '../http/answer.js'
import { ApiError } from '../http/errors.js'
import { integerOf, type Query, wordOf } from '../http/query.js'
import { route } from '../http/route.js'
import { z } from '../http/schema.js'
import { addressText, clusterIdText } from './schemas.js'

const LIMIT = { default: 500, max: 1_000 }
export const ORDERS = ['oldest', 'newest'] as const

const event = <Type extends string, Data extends z.ZodObject>(type: Type, data: Data) =>
  z.object({
    id: z
      .string()
      .openapi({ example: 'm-1-42', description: '`<network>-<generation>-<number>`, numbers without gaps' }),
    type: z.literal(type),
    from: addressText,
    data,
    isTestnet: z.boolean(),
    timestamp: z.int().openapi({ description: 'Milliseconds; never falls' }),
  })

const EventSchema = z
  .union([
    event('CREATE_CLUSTER', z.object({ cluster_id: clusterIdText })),
    event(
      'ADD_WALLET',
      z.object({
        name: z.string(),
        address: addressText,
        cluster_id: clusterIdText,
        is_verified: z.boolean(),
        is_backed_up: z.boolean(),
      }),
    ),
    event('REGISTER_NAME', z.object({ name: z.string(), wei_amount: z.string(), cluster_id: clusterIdText })),
    event('UPDATE_WALLET_NAME', z.object({ name: z.string(), address: addressText, cluster_id: clusterIdText })),
    event('VERIFY_WALLET', z.object({ address: addressText, cluster_id: clusterIdText })),
    event('REMOVE_WALLET', z.object({ address: addressText, cluster_id: clusterIdText })),
    event('BACKUP_WALLET', z.object({ address: addressText, cluster_id: clusterIdText })),
    event(
      'TRANSFER_NAME',
      z.object({
        name: z.string(),
        to: clusterIdText.openapi({ description: 'The cluster that holds it now' }),
        from_cluster_id: clusterIdText,
      }),
    ),
    event(
      'REGISTER_COMMUNITY_NAME',
      z.object({
        community: z.string(),
        name: z.string(),
        address: addressText,
        cluster_id: clusterIdText
          .nullable()
          .openapi({ description: 'The cluster in which the owner is verified in public, null for none' }),
      }),
    ),
  ])
  .openapi('Event')

const order = z.enum(ORDERS).optional()

const events = route({
  method: 'get',
  path: '/v1/events',
  tag: 'Events',
  summary: 'The history of public events, page by page',
  description:
    'An event that was given out is never changed, reordered or withdrawn within one generation. Pages concatenate exactly in both orders while events are being added.',
  query: z.object({
    nextPage: z.string().optional().openapi({
      description: 'Token of an earlier page; what is left out of the request comes from it, fromTimestamp is ignored',
    }),
    limit: z
      .int()
      .min(1)
      .default(LIMIT.default)
      .openapi({ description: `Clamped to ${LIMIT.max}` }),
    from: addressText.optional().openapi({ description: 'Only events of this actor' }),
    orderBy: order,
    sortBy: order.openapi({ description: 'The same as orderBy' }),
    fromTimestamp: z.int().min(0).optional().openapi({ description: 'Milliseconds, inclusive, in both orders' }),
  }),
  responses: {
    200: {
      description: 'A page',
      schema: z.object({
        items: z.array(EventSchema),
        nextPage: z.string().optional().openapi({ description: 'Absent at the end' }),
        resume: z.string().openapi({ description: 'Goes on after this page, also from the end' }),
      }),
    },
  },
  errors: ['unsupported_address', 'invalid_page', 'feed_restarted'],
  async handle({ query, network, isTestnet }, context) {
    const page = await feedPage(context, {
      network,
      isTestnet,
      page: query.get('nextPage'),
      limit: limitOf(query, LIMIT),
      order: orderOf(query),
      from: actorOf(query),
      sinceMs: integerOf(query, 'fromTimestamp'),
    })
    const items = page.items.map((item) => ({
      id: eventId(page.network, page.generation, item.number),
      type: item.event.type,
      from: actorText(item.actor),
      data: eventData(item.event, page.idOf),
      isTestnet: page.network === 'testnet',
      timestamp: item.atMs,
    }))
    return ok({ items, ...(page.nextPage ? { nextPage: page.nextPage } : {}), resume: page.resume })
  },
})

/** How many events a page may have: clamped. @throws ApiError invalid_request */
export function limitOf(query: Query, bounds: typeof LIMIT): number {
  const limit = integerOf(query, 'limit') ?? bounds.default
  if (limit === 0) throw new ApiError('invalid_request', 'The parameter limit is less than 1.')
  return Math.min(limit, bounds.max)
}

/** The order of a walk, under either of its names. @throws ApiError invalid_request where they contradict each other */
export function orderOf(query: Query): (typeof ORDERS)[number] | undefined {
  const orderBy = wordOf(query, 'orderBy', ORDERS)
  const sortBy = wordOf(query, 'sortBy', ORDERS)
  if (orderBy && sortBy && orderBy !== sortBy)
    throw new ApiError('invalid_request', 'The parameters orderBy and sortBy contradict each other.')
  return orderBy ?? sortBy
}

function actorOf(query: Query): Buffer | undefined {
  const text = query.get('from')
  if (text === undefined) return undefined
  const address = parseAddress(text)
  if (typeof address === 'string') throw new ApiError('unsupported_address', 'The parameter from is no address.')
  return address.bytes
}

export const eventRoutes = [events]
