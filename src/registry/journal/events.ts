import { decodeWallet } from '../primitives/address.js'
import { DEFAULT_WALLET_NAME } from '../primitives/name.js'
import { NETWORK_LETTER, type Network } from '../primitives/network.js'
import { decodeBid } from './bid.js'
import { decodeChange } from './change.js'
import {
  type ChangeEvent,
  decodeBidEffects,
  decodeChangeEffects,
  decodeCommunityEffects,
} from './effects.js'
import type { EntryKind } from './entry.js'
import { decodePayment } from './payment.js'

/** Journal row as input of both feed versions. */
export interface FeedRow {
  kind: EntryKind
  atMs: number
  publicFirst: number
  publicCount: number
  actor: Buffer | null
  body: Buffer
  effects: Buffer
}

/**
 * Public event, independent of the interface version. v0.1 shows name and verification with every change of a wallet,
 * so each such event carries both.
 */
export type PublicEvent =
  | ChangeEvent
  | { type: 'REGISTER_NAME'; cluster: number; name: string; amountWei: bigint }
  /** `cluster`: where the owner is publicly verified, else null. */
  | {
      type: 'REGISTER_COMMUNITY_NAME'
      cluster: number | null
      community: string
      name: string
      wallet: Buffer
    }

/** Public event with its place in the feed. */
export interface FeedItem extends Pick<FeedRow, 'actor' | 'atMs'> {
  /** Number of the event within its network and generation, from 1, without gaps. */
  number: number
  event: PublicEvent
  /** Position within its entry, from 0. */
  place: number
  count: number
}

/** Position of a walk in its natural order: an entry's first event, and those of its events that were given already. */
export interface Place {
  first: number
  skip: number
}

/** Place at which a walk goes on after an event. */
export const placeAfter = ({ number, place, count }: FeedItem): Place =>
  place + 1 < count ? { first: number - place, skip: place + 1 } : { first: number + 1, skip: 0 }

/** Events of an entry with their places, in order. */
export const itemsOf = (row: FeedRow): FeedItem[] =>
  publicEvents(row).map((event, place) => {
    const { publicFirst, publicCount: count, actor, atMs } = row
    return { number: publicFirst + place, event, actor, atMs, place, count }
  })

/** Public events of a journal row, in order; their number is the row's public count. */
export function publicEvents(row: FeedRow): readonly PublicEvent[] {
  const { kind, effects } = row
  if (effects.length === 0) return []
  if (kind === 'bid') return bidEvents(row)
  if (kind === 'register_community_name' || kind === 'pay_community_name')
    return communityEvents(kind, row)
  return decodeChangeEffects(effects).events
}

export function clustersOf(event: PublicEvent): number[] {
  if (event.cluster === null) return []
  return event.type === 'TRANSFER_NAME' ? [event.cluster, event.from] : [event.cluster]
}

function communityEvents(
  kind: RegistrationKind,
  { body, effects: stored }: FeedRow,
): PublicEvent[] {
  const effects = decodeCommunityEffects(stored)
  if (effects.outcome !== 'registered') return []
  return [
    { type: 'REGISTER_COMMUNITY_NAME', cluster: effects.cluster, ...registeredName(kind, body) },
  ]
}

type RegistrationKind = 'register_community_name' | 'pay_community_name'

/** Name registered by an entry, with its owner. @throws RangeError for an entry without one */
export function registeredName(kind: RegistrationKind, body: Buffer) {
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
  if (created) {
    events.push({ type: 'CREATE_CLUSTER', cluster })
    events.push({
      type: 'ADD_WALLET',
      cluster,
      name: DEFAULT_WALLET_NAME,
      wallet,
      isVerified: true,
      isBackedUp: false,
    })
  } else if (published) {
    const { walletName, isBackedUp } = published
    events.push({
      type: 'ADD_WALLET',
      cluster,
      name: walletName,
      wallet,
      isVerified: true,
      isBackedUp,
    })
  }
  events.push({ type: 'REGISTER_NAME', cluster, name: name!, amountWei })
  return events
}

/** `<network>-<generation>-<number>`, e.g. `m-1-42`. */
export const eventId = (network: Network, generation: number, number: number): string =>
  `${NETWORK_LETTER[network]}-${generation}-${number}`

/** Actor shown where no public wallet may be named. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`
export const actorText = (actor: Buffer | null): string =>
  actor ? decodeWallet(actor).text : ZERO_ADDRESS

/** Snake case. `idOf` maps a cluster's serial to its public id in hex. */
export function eventData(event: PublicEvent, idOf: (serial: number) => string): string {
  const cluster = event.cluster === null ? 'null' : `"${idOf(event.cluster)}"`
  switch (event.type) {
    case 'CREATE_CLUSTER':
      return `{"cluster_id":${cluster}}`
    case 'ADD_WALLET':
      return `{${namedWallet(event)},"cluster_id":${cluster},"is_verified":${event.isVerified},"is_backed_up":${event.isBackedUp}}`
    case 'REGISTER_NAME':
      return `{"name":${JSON.stringify(event.name)},"wei_amount":"${event.amountWei}","cluster_id":${cluster}}`
    case 'UPDATE_WALLET_NAME':
      return `{${namedWallet(event)},"cluster_id":${cluster}}`
    case 'TRANSFER_NAME':
      return `{"name":${JSON.stringify(event.name)},"to":${cluster},"from_cluster_id":"${idOf(event.from)}"}`
    case 'REGISTER_COMMUNITY_NAME':
      return `{"community":${JSON.stringify(event.community)},${namedWallet(event)},"cluster_id":${cluster}}`
    default:
      return `{"address":"${decodeWallet(event.wallet).text}","cluster_id":${cluster}}`
  }
}

const namedWallet = ({ name, wallet }: { name: string; wallet: Buffer }): string =>
  `"name":${JSON.stringify(name)},"address":"${decodeWallet(wallet).text}"`

/**
 * Writer of the JSON of v1 events, in half the time of `JSON.stringify`; an entry's events share their actor's text.
 * @param idOf public id of a cluster, hex, by its serial
 */
export function eventWriter(
  network: Network,
  generation: number,
  idOf: (serial: number) => string,
) {
  const isTestnet = network === 'testnet'
  let last: Buffer | null = null
  let from = actorText(null)
  return ({ number, event, actor, atMs }: FeedItem): string => {
    if (actor !== last) from = actorText(actor)
    last = actor
    return `{"id":"${eventId(network, generation, number)}","type":"${event.type}","from":"${from}","data":${eventData(event, idOf)},"isTestnet":${isTestnet},"timestamp":${atMs}}`
  }
}
