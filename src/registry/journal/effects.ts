import { OUTCOME, type Outcome, REFUSAL, type Refusal } from './bid.js'
import type { PublicEvent } from './events.js'

/**
 * What an entry did, kept beside it in the journal, so that feed items are a pure function of the row.
 * Bid: outcome u8; refused: reason u8; won: flags u8, cluster serial u64, then for a wallet made public its name
 * (length u8, ASCII).
 */
export type BidEffects =
  | { outcome: 'lost' }
  | { outcome: 'refused'; reason: Refusal }
  | { outcome: 'won'; cluster: number; created: boolean; published: { walletName: string; isBackedUp: boolean } | null }

const FLAG = { created: 1, published: 2, backedUp: 4 }
const OUTCOME_OF = new Map<number, Outcome>(Object.entries(OUTCOME).map(([k, v]) => [v, k as Outcome]))
const REFUSAL_OF = new Map<number, Refusal>(Object.entries(REFUSAL).map(([k, v]) => [v, k as Refusal]))

export const NO_EFFECTS = Buffer.alloc(0)
const LOST = Buffer.of(OUTCOME.lost)
const REFUSED = {
  malformed_name: Buffer.of(OUTCOME.refused, REFUSAL.malformed_name),
  below_minimum: Buffer.of(OUTCOME.refused, REFUSAL.below_minimum),
} satisfies Record<Refusal, Buffer>

/** Bytes of a bid's effects. */
export function encodeBidEffects(effects: BidEffects): Buffer {
  if (effects.outcome === 'lost') return LOST
  if (effects.outcome === 'refused') return REFUSED[effects.reason]
  const name = effects.published?.walletName ?? ''
  const out = Buffer.alloc(effects.published ? 11 + name.length : 10)
  out[0] = OUTCOME.won
  out[1] =
    (effects.created ? FLAG.created : 0) |
    (effects.published ? FLAG.published : 0) |
    (effects.published?.isBackedUp ? FLAG.backedUp : 0)
  out.writeUInt32BE(Math.floor(effects.cluster / 2 ** 32), 2)
  out.writeUInt32BE(effects.cluster % 2 ** 32, 6)
  if (effects.published) {
    out[10] = name.length
    out.write(name, 11, 'latin1')
  }
  return out
}

/** The effects in a bid's bytes. Throws RangeError for bytes that the encoder does not make. */
export function decodeBidEffects(bytes: Buffer): BidEffects {
  const effects = readBidEffects(bytes)
  if (!effects) throw new RangeError(`0x${bytes.toString('hex')} are not the effects of a bid`)
  return effects
}

function readBidEffects(bytes: Buffer): BidEffects | null {
  switch (OUTCOME_OF.get(bytes[0] ?? 0)) {
    case 'lost':
      return bytes.length === 1 ? { outcome: 'lost' } : null
    case 'refused': {
      const reason = REFUSAL_OF.get(bytes[1] ?? 0)
      return reason && bytes.length === 2 ? { outcome: 'refused', reason } : null
    }
    case 'won':
      return bytes.length < 10 ? null : readWon(bytes)
    default:
      return null
  }
}

function readWon(bytes: Buffer): BidEffects | null {
  const flags = bytes[1]!
  const cluster = Number(bytes.readBigUInt64BE(2))
  const created = (flags & FLAG.created) !== 0
  if (!Number.isSafeInteger(cluster) || flags > (FLAG.created | FLAG.published | FLAG.backedUp)) return null
  if (!(flags & FLAG.published)) {
    return bytes.length === 10 && !(flags & FLAG.backedUp)
      ? { outcome: 'won', cluster, created, published: null }
      : null
  }
  if (bytes.length !== 11 + (bytes[10] ?? 0)) return null
  const published = { walletName: bytes.toString('latin1', 11), isBackedUp: (flags & FLAG.backedUp) !== 0 }
  return { outcome: 'won', cluster, created, published }
}

/** What a signed change did: in which cluster, and its public events (none where all of it is private). */
export interface ChangeEffects {
  cluster: number
  events: readonly ChangeEvent[]
}
export type ChangeEvent = Exclude<PublicEvent, { type: 'REGISTER_NAME' | 'REGISTER_COMMUNITY_NAME' }>

/** Stored in the effects of signed changes. Never renumber. */
const EVENT = {
  CREATE_CLUSTER: 1,
  ADD_WALLET: 2,
  UPDATE_WALLET_NAME: 3,
  VERIFY_WALLET: 4,
  REMOVE_WALLET: 5,
  BACKUP_WALLET: 6,
  TRANSFER_NAME: 7,
} as const satisfies Record<ChangeEvent['type'], number>
const EVENT_OF = new Map<number, ChangeEvent['type']>(
  Object.entries(EVENT).map(([k, v]) => [v, k as ChangeEvent['type']]),
)
const WALLET_FLAG = { verified: 1, backedUp: 2 }

/**
 * Bytes of a signed change's effects: the cluster's serial u64, then each public event: type u8, cluster u64 and its fields,
 * byte strings and names with their length u8 before them. Never empty.
 */
export function encodeChangeEffects({ cluster, events }: ChangeEffects): Buffer {
  return Buffer.concat([u64(cluster), ...events.flatMap(partsOf)])
}

function partsOf(event: ChangeEvent): Buffer[] {
  const head = [Buffer.of(EVENT[event.type]), u64(event.cluster)]
  switch (event.type) {
    case 'CREATE_CLUSTER':
      return head
    case 'ADD_WALLET': {
      const flags = (event.isVerified ? WALLET_FLAG.verified : 0) | (event.isBackedUp ? WALLET_FLAG.backedUp : 0)
      return [...head, Buffer.of(flags), sized(event.wallet), sized(Buffer.from(event.name))]
    }
    case 'UPDATE_WALLET_NAME': {
      const flags = event.isVerified ? WALLET_FLAG.verified : 0
      return [...head, Buffer.of(flags), sized(event.wallet), sized(Buffer.from(event.name))]
    }
    case 'VERIFY_WALLET':
      return [...head, sized(event.wallet), sized(Buffer.from(event.name))]
    case 'TRANSFER_NAME':
      return [...head, u64(event.from), sized(Buffer.from(event.name))]
    default:
      return [...head, sized(event.wallet)]
  }
}

function u64(value: number): Buffer {
  const out = Buffer.alloc(8)
  out.writeBigUInt64BE(BigInt(value))
  return out
}

const sized = (bytes: Buffer): Buffer => Buffer.concat([Buffer.of(bytes.length), bytes])

/** The effects in a signed change's bytes. Throws RangeError for bytes that the encoder does not make. */
export function decodeChangeEffects(bytes: Buffer): ChangeEffects {
  let at = 0
  const take = (length: number): Buffer => {
    at += length
    if (at > bytes.length) throw new RangeError(`0x${bytes.toString('hex')} are not the effects of a signed change`)
    return bytes.subarray(at - length, at)
  }
  const number = (): number => Number(take(8).readBigUInt64BE())
  const sizedBytes = (): Buffer => take(take(1)[0]!)
  const name = (): string => sizedBytes().toString('latin1')
  const readEvent = (): ChangeEvent => {
    const code = take(1)[0]!
    const type = EVENT_OF.get(code)
    const cluster = number()
    switch (type) {
      case 'CREATE_CLUSTER':
        return { type, cluster }
      case 'ADD_WALLET': {
        const flags = take(1)[0]!
        const is = {
          isVerified: (flags & WALLET_FLAG.verified) !== 0,
          isBackedUp: (flags & WALLET_FLAG.backedUp) !== 0,
        }
        return { type, cluster, ...is, wallet: sizedBytes(), name: name() }
      }
      case 'UPDATE_WALLET_NAME': {
        const isVerified = (take(1)[0]! & WALLET_FLAG.verified) !== 0
        return { type, cluster, isVerified, wallet: sizedBytes(), name: name() }
      }
      case 'VERIFY_WALLET':
        return { type, cluster, isVerified: true, wallet: sizedBytes(), name: name() }
      case 'TRANSFER_NAME':
        return { type, cluster, from: number(), name: name() }
      case 'REMOVE_WALLET':
      case 'BACKUP_WALLET':
        return { type, cluster, wallet: sizedBytes() }
      case undefined:
        throw new RangeError(`effects name event ${code}: was the journal written by a newer version?`)
    }
  }
  const cluster = number()
  const events: ChangeEvent[] = []
  while (at < bytes.length) events.push(readEvent())
  return { cluster, events }
}
