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
  malformed_name: Buffer.of(OUTCOME.refused, 1),
  below_minimum: Buffer.of(OUTCOME.refused, 2),
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
  const outcome = OUTCOME_OF.get(bytes[0] ?? 0)
  if (outcome === 'lost' && bytes.length === 1) return { outcome }
  if (outcome === 'refused' && bytes.length === 2) {
    const reason = REFUSAL_OF.get(bytes[1]!)
    if (reason) return { outcome, reason }
  }
  if (outcome === 'won' && bytes.length >= 10) {
    const flags = bytes[1]!
    const published =
      flags & FLAG.published
        ? { walletName: bytes.toString('latin1', 11, 11 + (bytes[10] ?? 0)), isBackedUp: (flags & FLAG.backedUp) !== 0 }
        : null
    return { outcome, cluster: Number(bytes.readBigUInt64BE(2)), created: (flags & FLAG.created) !== 0, published }
  }
  throw new RangeError(`0x${bytes.toString('hex')} are not the effects of a bid`)
}
