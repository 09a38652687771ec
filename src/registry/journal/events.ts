import { DEFAULT_WALLET_NAME } from '../primitives/name.js'
import { NETWORK_LETTER, type Network } from '../primitives/network.js'
import { decodeBid } from './bid.js'
import { decodeChange } from './change.js'
import { decodeBidEffects, decodeChangeEffects, decodeCommunityEffects } from './effects.js'
import type { EntryKind } from './entry.js'
import { actorText, eventDataJson } from './eventForms.js'
import type { PublicEvent } from './eventTypes.js'
import { decodePayment } from './payment.js'

/** The part of a journal row from which the feeds of both API versions are made. */
export interface FeedRow {
  kind: EntryKind
  atMs: number
  publicFirst: number
  publicCount: number
  actor: Buffer | null
  body: Buffer
  effects: Buffer
}

/** Public event with its number in the feed. */
export interface NumberedEvent<Event> extends Pick<FeedRow, 'actor' | 'atMs'> {
  /** Number of the event within its network and generation, from 1, without gaps. */
  number: number
  event: Event
}

export interface FeedItem extends NumberedEvent<PublicEvent> {
  /** Place of the event within its entry, from 0. */
  place: number
  /** Number of events of its entry. */
  count: number
}

/**
 * Position of a client that pages through the feed: first event of an entry, and how many events of the entry were
 * returned already.
 */
export interface FeedCursor {
  first: number
  skip: number
}

/** Position at which a client that pages through the feed continues after an event. */
export const feedCursorAfter = ({ number, place, count }: FeedItem): FeedCursor =>
  place + 1 < count ? { first: number - place, skip: place + 1 } : { first: number + 1, skip: 0 }

/** Public events of a journal row, in order, each with its feed number and its place in the entry. */
export const feedItemsOf = (row: FeedRow): FeedItem[] =>
  publicEvents(row).map((event, place) => {
    const { publicFirst, publicCount: count, actor, atMs } = row
    return { number: publicFirst + place, event, actor, atMs, place, count }
  })

/** Public events of a journal row, in order. The number of events equals the row's `publicCount`. */
export function publicEvents(row: FeedRow): readonly PublicEvent[] {
  const { kind, effects } = row
  if (effects.length === 0) return []
  if (kind === 'bid') return bidEvents(row)
  if (kind === 'register_community_name' || kind === 'pay_community_name')
    return communityEvents(kind, row)
  return decodeChangeEffects(effects).events
}

function communityEvents(
  kind: RegistrationKind,
  { body, effects: stored }: FeedRow,
): PublicEvent[] {
  const effects = decodeCommunityEffects(stored)
  if (effects.outcome !== 'registered') return []
  return [
    {
      type: 'REGISTER_COMMUNITY_NAME',
      cluster: effects.cluster,
      ...decodeRegisteredName(kind, body),
    },
  ]
}

type RegistrationKind = 'register_community_name' | 'pay_community_name'

/**
 * Name that an entry registered, with its owner.
 * @throws RangeError for a payment with a malformed name, and for a body that its schema refuses
 */
export function decodeRegisteredName(kind: RegistrationKind, body: Buffer) {
  if (kind === 'register_community_name') {
    const { community, name, wallet } = decodeChange(kind, body)
    return { community, name, wallet }
  }
  const { community, name, payment } = decodePayment(body)
  if (community === null || name === null)
    throw new RangeError('a payment for no name has registered none')
  return { community, name, wallet: payment.payer }
}

function bidEvents({ effects: stored, body }: FeedRow): PublicEvent[] {
  const effects = decodeBidEffects(stored)
  if (effects.outcome !== 'won') return []
  const { cluster, created, published } = effects
  const { name, amountWei, wallet } = decodeBid(body)
  const events: PublicEvent[] = []
  if (created) events.push({ type: 'CREATE_CLUSTER', cluster })
  const added = created ? { walletName: DEFAULT_WALLET_NAME, isBackedUp: false } : published
  if (added)
    events.push({
      type: 'ADD_WALLET',
      cluster,
      name: added.walletName,
      wallet,
      isVerified: true,
      isBackedUp: added.isBackedUp,
    })
  events.push({ type: 'REGISTER_NAME', cluster, name: name!, amountWei })
  return events
}

/** Id of an event: `<network>-<generation>-<number>`, such as `m-1-42`. */
export const eventId = (network: Network, generation: number, number: number): string =>
  `${NETWORK_LETTER[network]}-${generation}-${number}`

/**
 * Creates a writer of events in the JSON of the API's v1, twice as fast as `JSON.stringify`. Consecutive events with
 * the same Buffer as actor share the actor's text.
 * @param idOf public id of a cluster, hex
 */
export function createV1EventWriter(
  network: Network,
  generation: number,
  idOf: (cluster: number) => string,
) {
  const isTestnet = network === 'testnet'
  let last: Buffer | null = null
  let from = actorText(null)
  return ({ number, event, actor, atMs }: NumberedEvent<PublicEvent>): string => {
    if (actor !== last) from = actorText(actor)
    last = actor
    return `{"id":"${eventId(network, generation, number)}","type":"${event.type}","from":"${from}","data":${eventDataJson(event, idOf)},"isTestnet":${isTestnet},"timestamp":${atMs}}`
  }
}
