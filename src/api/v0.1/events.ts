import type { PublicEvent } from '../../registry/journal/events.js'
import { addressToWord, decodeWallet } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { type FeedItem, feedPage } from '../feed/feed.js'
import { JSON_TYPE } from '../http/answer.js'
import { type Json, jsonText } from '../http/json.js'
import { integerOf } from '../http/query.js'
import { route } from '../http/route.js'
import { z } from '../http/schema.js'
import { limitOf, ORDERS, orderOf } from '../v1/events.js'
import { addressText, walletType } from '../v1/schemas.js'

const LIMIT = { default: 1_000, max: 5_000 }

const event = <Type extends string>(type: Type, data: z.ZodType) =>
  z.object({
    eventType: z.literal(type),
    clusterId: z.int().openapi({ description: 'Number of the cluster within its network' }),
    bytes32Address: z
      .string()
      .openapi({ description: 'EVM: left-padded with zeros, Solana: its 32 bytes, other chains: a hash' }),
    address: addressText,
    addressType: walletType,
    data,
    timestamp: z.int().openapi({ description: 'Seconds' }),
  })

const EventSchema = z
  .union([
    event('register', z.object({ name: z.string(), weiAmount: z.int().openapi({ description: 'Exact beyond 2^53' }) })),
    event('updateWallet', z.object({ name: z.string(), isVerified: z.literal([0, 1]) })),
    event('removeWallet', z.null()),
  ])
  .openapi('EventV01')

/** What v0.1 shows of an event, null where it shows nothing. */
function shown(event: PublicEvent): { eventType: string; wallet: Buffer | null; data: Json } | null {
  switch (event.type) {
    case 'REGISTER_NAME':
      return { eventType: 'register', wallet: null, data: { name: event.name, weiAmount: event.amountWei } }
    case 'ADD_WALLET':
    case 'UPDATE_WALLET_NAME':
    case 'VERIFY_WALLET': {
      const data = { name: event.name, isVerified: Number(event.isVerified) }
      return { eventType: 'updateWallet', wallet: event.wallet, data }
    }
    case 'REMOVE_WALLET':
      return { eventType: 'removeWallet', wallet: event.wallet, data: null }
    default:
      return null
  }
}

function view({ event, actor, atMs }: FeedItem): Json {
  const { eventType, wallet, data } = shown(event)!
  // a name is registered by whoever signed for it
  const bytes = wallet ?? actor!
  const { type, text } = decodeWallet(bytes)
  return {
    eventType,
    clusterId: event.cluster,
    bytes32Address: toHex(addressToWord(bytes)),
    address: text,
    addressType: type,
    data,
    timestamp: Math.floor(atMs / 1_000),
  }
}

const order = z.enum(ORDERS).optional()

const events = route({
  method: 'get',
  path: '/v0.1/events',
  deprecated: { successor: '/v1/events' },
  tag: 'v0.1 events',
  summary: 'The history of names and wallets, page by page',
  description: 'The same feed as /v1/events; its page tokens are good for both.',
  query: z.object({
    nextPage: z.string().optional().openapi({ description: 'Token of an earlier page; fromTimestamp is ignored then' }),
    limit: z
      .int()
      .min(1)
      .default(LIMIT.default)
      .openapi({ description: `Clamped to ${LIMIT.max}` }),
    sortBy: order,
    orderBy: order.openapi({ description: 'The same as sortBy' }),
    fromTimestamp: z.int().min(0).optional().openapi({ description: 'Seconds, inclusive, in both orders' }),
  }),
  responses: {
    200: {
      description: 'A page',
      schema: z.object({
        nextPage: z.string().optional().openapi({ description: 'Absent at the end' }),
        items: z.array(EventSchema),
        resume: z.string().openapi({ description: 'Goes on after this page, also from the end' }),
      }),
    },
  },
  errors: ['invalid_page', 'feed_restarted'],
  async handle({ query, network, isTestnet }, context) {
    const since = integerOf(query, 'fromTimestamp')
    const { nextPage, items, resume } = await feedPage(context, {
      network,
      isTestnet,
      page: query.get('nextPage'),
      limit: limitOf(query, LIMIT),
      order: orderOf(query),
      sinceMs: since === undefined ? undefined : Math.min(since * 1_000, Number.MAX_SAFE_INTEGER),
      shows: (event) => shown(event) !== null,
    })
    return { status: 200, content: { type: JSON_TYPE, text: jsonText({ nextPage, items: items.map(view), resume }) } }
  },
})

export const eventRoutes = [events]
