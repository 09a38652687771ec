import { decodeAddress, decodeWallet } from '../primitives/address.js'
import { toHex } from '../primitives/bytes.js'
import { DEFAULT_WALLET_NAME } from '../primitives/name.js'
import { NETWORK_LETTER, type Network } from '../primitives/network.js'
import { decodeBid } from './bid.js'
import { decodeChange, isClusterChangeKind } from './change.js'
import { type ChangeEvent, decodeBidEffects, decodeChangeEffects, decodeCommunityEffects } from './effects.js'
import type { EntryKind } from './entry.js'
import { decodePayment } from './payment.js'

/** What the feed needs of a journal row. Both feed versions are pure functions of it. */
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
  | ChangeEvent
  | { type: 'REGISTER_NAME'; cluster: number; name: string; amountWei: bigint }
  /** `cluster`: where the owner is verified in public, null for nowhere. */
  | { type: 'REGISTER_COMMUNITY_NAME'; cluster: number | null; community: string; name: string; wallet: Buffer }

/** The public events of a journal row, in their order; as many as the row's public count. */
export function publicEvents(row: FeedRow): readonly PublicEvent[] {
  const { kind } = row
  if (row.publicCount === 0) return []
  if (kind === 'bid') return bidEvents(row)
  if (kind === 'register_community_name' || kind === 'pay_community_name') return communityEvents(kind, row)
  return isClusterChangeKind(kind) ? decodeChangeEffects(row.effects).events : []
}

/** Serials of the clusters that an event names. */
export function clustersOf(event: PublicEvent): number[] {
  if (event.cluster === null) return []
  return event.type === 'TRANSFER_NAME' ? [event.cluster, event.from] : [event.cluster]
}

function communityEvents(kind: RegistrationKind, { body, effects: stored }: FeedRow): PublicEvent[] {
  const effects = decodeCommunityEffects(stored)
  if (effects.outcome !== 'registered') return []
  return [{ type: 'REGISTER_COMMUNITY_NAME', cluster: effects.cluster, ...registeredName(kind, body) }]
}

type RegistrationKind = 'register_community_name' | 'pay_community_name'

/** The name that an entry registered, and for whom. Throws RangeError for an entry that registered none. */
export function registeredName(
  kind: RegistrationKind,
  body: Buffer,
): { community: string; name: string; wallet: Buffer } {
  if (kind === 'register_community_name') {
    const { community, name, wallet } = decodeChange(kind, body)
    return { community, name, wallet }
  }
  const { community, name, payment } = decodePayment(body)
  if (community === null || name === null) throw new RangeError('a payment for no name has registered none')
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
    events.push({ type: 'ADD_WALLET', cluster, name: DEFAULT_WALLET_NAME, wallet, isVerified: true, isBackedUp: false })
  } else if (published) {
    const { walletName, isBackedUp } = published
    events.push({ type: 'ADD_WALLET', cluster, name: walletName, wallet, isVerified: true, isBackedUp })
  }
  events.push({ type: 'REGISTER_NAME', cluster, name: name!, amountWei })
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
  const cluster_id = event.cluster === null ? null : toHex(idOf(event.cluster))
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
    case 'VERIFY_WALLET':
    case 'REMOVE_WALLET':
    case 'BACKUP_WALLET':
      return { address: decodeWallet(event.wallet).text, cluster_id }
    case 'REGISTER_COMMUNITY_NAME':
      return { community: event.community, name: event.name, address: decodeWallet(event.wallet).text, cluster_id }
  }
}
