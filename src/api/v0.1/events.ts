import { findWinningBids } from '../../db/registry/owners.js'
import { mapInTurns } from '../../ops/turns.js'
import type { FeedItem, PublicEvent } from '../../registry/journal/events.js'
import { addressToWord, decodeWallet } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { feedPage } from '../feed/feed.js'
import { ApiError } from '../http/errors.js'
import { route } from '../http/route.js'
import { answers, z } from '../http/schema.js'
import { pagePrice } from '../limits/costs.js'
import { pageAnswer, pageOf, pageQuery, pageRequest, sinceOf } from '../v1/events.js'
import { addressText, walletType } from '../v1/schemas.js'

const LIMIT = { default: 1_000, max: 5_000 }

const event = <Type extends string>(eventType: Type, data: z.ZodType, description: string) =>
  z
    .object({
      eventType: z.literal(eventType),
      clusterId: z.int().openapi({ description: 'Number of the cluster within its network' }),
      bytes32Address: z.string().openapi({
        description: 'EVM: left-padded with zeros, Solana: its 32 bytes, other chains: a hash',
      }),
      address: addressText.openapi({
        description: 'The wallet; of `register` the one that signed the bid',
      }),
      addressType: walletType,
      data,
      timestamp: z.int().openapi({ description: 'Seconds' }),
    })
    .openapi({ description })

const EventSchema = z
  .union([
    event(
      'register',
      z.object({
        name: z.string(),
        weiAmount: z.int().openapi({ description: 'Exact beyond 2^53' }),
      }),
      'A confirmed bid on the hub won a name for the cluster; again, with the new cluster, where the name moved',
    ),
    event(
      'updateWallet',
      z.object({
        name: z.string(),
        isVerified: z.int().min(0).max(1).openapi({ description: '1 for true' }),
      }),
      'A wallet was added, renamed or verified',
    ),
    event('removeWallet', z.null(), 'A wallet was removed from the cluster, or left it'),
  ])
  .openapi('EventV01')

/** The event type of v0.1 for each event type of v1 that it shows: those that are not named are left out. */
export const SHOWN_AS = {
  ADD_WALLET: 'updateWallet',
  REGISTER_NAME: 'register',
  TRANSFER_NAME: 'register',
  UPDATE_WALLET_NAME: 'updateWallet',
  VERIFY_WALLET: 'updateWallet',
  REMOVE_WALLET: 'removeWallet',
} as const satisfies Partial<Record<PublicEvent['type'], z.output<typeof EventSchema>['eventType']>>

type ShownEvent = Extract<PublicEvent, { type: keyof typeof SHOWN_AS }>

const isShown = (event: PublicEvent): event is ShownEvent => event.type in SHOWN_AS

/** The bids that won names which moved, by name. */
type WinningBids = Awaited<ReturnType<typeof findWinningBids>>

function dataOf(event: ShownEvent, bids: WinningBids) {
  switch (event.type) {
    case 'REGISTER_NAME':
      return { name: event.name, weiAmount: event.amountWei.toString() }
    case 'TRANSFER_NAME':
      return { name: event.name, weiAmount: bidOf(event.name, bids).amountWei.toString() }
    case 'ADD_WALLET':
    case 'UPDATE_WALLET_NAME':
    case 'VERIFY_WALLET':
      return { name: event.name, isVerified: Number(event.isVerified) }
    case 'REMOVE_WALLET':
      return null
  }
}

/** @throws ApiError unavailable where a rewind took the name back after the page was read */
function bidOf(name: string, bids: WinningBids) {
  const bid = bids.get(name)
  if (bid) return bid
  throw new ApiError('unavailable', 'The feed was changed while it was read: ask again.')
}

/** Wallet that an event is shown under: of a name the one that signed its bid, or with which it moved. */
function walletOf(event: ShownEvent, actor: Buffer | null, bids: WinningBids): Buffer {
  if (event.type === 'REGISTER_NAME') return actor!
  if (event.type === 'TRANSFER_NAME') return actor ?? bidOf(event.name, bids).wallet
  return event.wallet
}

/** JSON of an event; its amount is a bare integer of all its digits, since RFC 8259 bounds no number. */
function jsonOf(event: ShownEvent, { actor, atMs }: FeedItem, bids: WinningBids): string {
  const wallet = walletOf(event, actor, bids)
  const { type, text: address } = decodeWallet(wallet)
  const json = JSON.stringify({
    eventType: SHOWN_AS[event.type],
    clusterId: event.cluster,
    bytes32Address: toHex(addressToWord(wallet)),
    address,
    addressType: type,
    data: dataOf(event, bids),
    timestamp: Math.floor(atMs / 1_000),
  })
  return json.replace(/"weiAmount":"(\d+)"/, '"weiAmount":$1')
}

const events = route.get('/v0.1/events', {
  bad: { what: 'a page of no events', query: { limit: '0' }, error: 'invalid_request' },
  dearest: { what: '5,000 events', query: { limit: '5000', orderBy: 'newest' } },
  bounds: { 'items[]': 'page: limit, at most 5,000; nextPage' },
  deprecated: { successor: '/v1/events' },
  summary: 'The history of names and wallets, page by page',
  beyond:
    '`removeWallet`, whose `data` is null. `addressType` may be a type of another chain. A name that moved is a further `register` with the new `clusterId` and the amount of its winning bid. `nextPage` is absent on the last page; `resume` continues after any.',
  description: 'The same feed as /v1/events; its page tokens are good for both.',
  query: pageQuery(LIMIT, 'Seconds'),
  price: pagePrice(LIMIT),
  responses: answers('A page', pageOf(EventSchema)),
  errors: ['invalid_page', 'feed_restarted'],
  async handle(request, context) {
    const since = sinceOf(request.query)
    const page = await feedPage(context, {
      ...pageRequest(request, LIMIT),
      sinceMs: since === undefined ? undefined : Math.min(since * 1_000, Number.MAX_SAFE_INTEGER),
      shows: isShown,
    })
    const moved = page.items.flatMap(({ event }) =>
      event.type === 'TRANSFER_NAME' ? [event.name] : [],
    )
    const bids = await findWinningBids(context.pool, context.network, [...new Set(moved)])
    const shown = await mapInTurns(context.turn, page.items, (item) =>
      isShown(item.event) ? [jsonOf(item.event, item, bids)] : [],
    )
    return pageAnswer(page, shown.flat())
  },
})

export const eventRoutes = [events]
