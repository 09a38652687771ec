import { OUTCOME, type Outcome, REFUSAL, type Refusal } from './bid.js'

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
