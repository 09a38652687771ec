import { decodeAddress, decodeWallet } from '../primitives/address.js'
import { toHex, wordToBigInt } from '../primitives/bytes.js'
import { DEFAULT_WALLET_NAME, wordToName } from '../primitives/name.js'
import { NETWORK_LETTER, type Network } from '../primitives/network.js'
import { BID_WORDS, decodeBid } from './bid.js'
import { isChangeKind } from './change.js'
import { decodeCommunityEffects, isRegistrationKind, registeredName } from './communityEffects.js'
import { decodeBidEffects, decodeChangeEffects } from './effects.js'
import type { EntryKind } from './entry.js'

/** What the feed needs of a journal row. Both feed versions are a pure function of it. */
export interface FeedRow {
  kind: EntryKind
  seq: number
  atMs: number
  publicFirst: number
  publicCount: number
  actor: Buffer | null
  body: Buffer
  effects: Buffer
}

/**
 * A public event before it takes the form of a version of the interface. v0.1 shows an entry's name and whether it is
 * verified with every change of it, so each event that changes an entry carries both, whether v1 shows them or not.
 */
export type PublicEvent =
  | { type: 'CREATE_CLUSTER'; cluster: number }
  | { type: 'ADD_WALLET'; cluster: number; name: string; wallet: Buffer; isVerified: boolean; isBackedUp: boolean }
  | { type: 'REGISTER_NAME'; cluster: number; name: string; amountWei: bigint }
  | { type: 'UPDATE_WALLET_NAME'; cluster: number; name: string; wallet: Buffer; isVerified: boolean }
  | { type: 'VERIFY_WALLET'; cluster: number; name: string; wallet: Buffer; isVerified: true }
  | { type: 'REMOVE_WALLET' | 'BACKUP_WALLET'; cluster: number; wallet: Buffer }
  /** `cluster` is where it went. */
  | { type: 'TRANSFER_NAME'; cluster: number; from: number; name: string }
  /** `cluster`: where the owner is verified in public, null for nowhere. */
  | { type: 'REGISTER_COMMUNITY_NAME'; cluster: number | null; community: string; name: string; wallet: Buffer }

/** The public events of a journal row, in their order; as many as the row's public count. */
export function publicEvents(row: FeedRow): readonly PublicEvent[] {
  if (row.publicCount === 0) return []
  if (row.kind === 'bid') return bidEvents(row)
  if (isRegistrationKind(row.kind)) return communityEvents(row, row.kind)
  return isChangeKind(row.kind) ? decodeChangeEffects(row.effects).events : []
}

/** Serials of the clusters that an event names. */
export function clustersOf(event: PublicEvent): number[] {
  if (event.cluster === null) return []
  return event.type === 'TRANSFER_NAME' ? [event.cluster, event.from] : [event.cluster]
}

function communityEvents(row: FeedRow, kind: Parameters<typeof registeredName>[0]): PublicEvent[] {
  const effects = decodeCommunityEffects(row.effects)
  if (effects.outcome !== 'registered') return []
  const { community, name, wallet } = registeredName(kind, row.body)
  return [{ type: 'REGISTER_COMMUNITY_NAME', cluster: effects.cluster, community, name, wallet }]
}

function bidEvents(row: FeedRow): PublicEvent[] {
  const effects = decodeBidEffects(row.effects)
  if (effects.outcome !== 'won') return []
  const bid = decodeBid(row.body)
  const { cluster } = effects
  const wallet = row.actor!
  const events: PublicEvent[] = []
  if (effects.created) {
    events.push({ type: 'CREATE_CLUSTER', cluster })
    events.push({ type: 'ADD_WALLET', cluster, name: DEFAULT_WALLET_NAME, wallet, isVerified: true, isBackedUp: false })
  } else if (effects.published) {
    const { walletName, isBackedUp } = effects.published
    events.push({ type: 'ADD_WALLET', cluster, name: walletName, wallet, isVerified: true, isBackedUp })
  }
  events.push({ type: 'REGISTER_NAME', cluster, name: wordToName(bid.nameWord)!, amountWei: bid.amountWei })
  return events
}

/** `<network>-<generation>-<number>`, e.g. `m-1-42`. */
export const eventId = (network: Network, generation: number, number: number): string =>
  `${NETWORK_LETTER[network]}-${generation}-${number}`

/** The actor that the feed shows: the zero address where no public wallet may be named. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}`
export const actorText = (actor: Buffer | null): string => (actor ? decodeAddress(actor).text : ZERO_ADDRESS)

/** A v1 event's `data` (snake_case). `idOf` gives a cluster's public id by its serial. */
export function eventData(
  event: PublicEvent,
  idOf: (serial: number) => Buffer,
): Record<string, string | boolean | null> {
  if (event.type === 'REGISTER_COMMUNITY_NAME') {
    const { community, name, wallet, cluster } = event
    return {
      community,
      name,
      address: decodeWallet(wallet).text,
      cluster_id: cluster === null ? null : toHex(idOf(cluster)),
    }
  }
  const cluster_id = toHex(idOf(event.cluster))
  switch (event.type) {
    case 'CREATE_CLUSTER':
      return { cluster_id }
    case 'ADD_WALLET':
      return {
        name: event.name,
        address: decodeWallet(event.wallet).text,
        cluster_id,
        is_verified: event.isVerified,
        is_backed_up: event.isBackedUp,
      }
    case 'REGISTER_NAME':
      return { name: event.name, wei_amount: event.amountWei.toString(), cluster_id }
    case 'UPDATE_WALLET_NAME':
      return { name: event.name, address: decodeWallet(event.wallet).text, cluster_id }
    case 'TRANSFER_NAME':
      return { name: event.name, to: cluster_id, from_cluster_id: toHex(idOf(event.from)) }
    default:
      return { address: decodeWallet(event.wallet).text, cluster_id }
  }
}

/** The amount of a journalled bid in wei, without taking the rest apart. */
export const bidAmountWei = (body: Buffer): bigint => wordToBigInt(body.subarray(BID_WORDS.amount, BID_WORDS.name))
