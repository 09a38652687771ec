import type { PaymentJudgement, PaymentRefusal } from '../payment/decide.js'
import { wordToName } from '../primitives/name.js'
import { OUTCOME } from './bid.js'
import { decodeCommunityChange, decodePayment } from './communityChange.js'
import type { EntryKind } from './entry.js'

/**
 * What an entry that may register a name below a community did, kept beside it in the journal: outcome u8; registered: the
 * serial u64 of the cluster in which the owner was verified in public, 0 for none; refused: reason u8.
 */
export type CommunityEffects =
  | { outcome: 'registered'; cluster: number | null }
  | Exclude<PaymentJudgement, { outcome: 'registered' }>

/** Stored. Never renumber. */
const REASON: Record<PaymentRefusal, number> = {
  malformed_name: 1,
  not_found: 2,
  not_active: 3,
  no_price: 4,
  underpaid: 5,
  requirements_not_met: 6,
}
const REASON_OF = new Map(Object.entries(REASON).map(([reason, code]) => [code, reason as PaymentRefusal]))

/** Bytes of such effects. */
export function encodeCommunityEffects(effects: CommunityEffects): Buffer {
  switch (effects.outcome) {
    case 'registered': {
      const out = Buffer.alloc(9)
      out[0] = OUTCOME.won
      out.writeBigUInt64BE(BigInt(effects.cluster ?? 0), 1)
      return out
    }
    case 'lost':
      return Buffer.of(OUTCOME.lost)
    case 'refused':
      return Buffer.of(OUTCOME.refused, REASON[effects.reason])
  }
}

/** The effects in their bytes. Throws RangeError for bytes that the encoder does not make. */
export function decodeCommunityEffects(bytes: Buffer): CommunityEffects {
  const [outcome, code] = bytes
  const reason = REASON_OF.get(code ?? 0)
  if (outcome === OUTCOME.won && bytes.length === 9) {
    const cluster = Number(bytes.readBigUInt64BE(1))
    if (Number.isSafeInteger(cluster)) return { outcome: 'registered', cluster: cluster || null }
  }
  if (outcome === OUTCOME.lost && bytes.length === 1) return { outcome: 'lost' }
  if (outcome === OUTCOME.refused && bytes.length === 2 && reason) return { outcome: 'refused', reason }
  throw new RangeError(`0x${bytes.toString('hex')} are not the effects of a community name's registration`)
}

/** Entries of these kinds may register a name below a community. */
export const isRegistrationKind = (kind: EntryKind): kind is 'register_community_name' | 'pay_community_name' =>
  kind === 'register_community_name' || kind === 'pay_community_name'

/** Which name such an entry registered, and for whom. Throws RangeError for one that registered none. */
export function registeredName(
  kind: 'register_community_name' | 'pay_community_name',
  body: Buffer,
): { community: string; name: string; wallet: Buffer } {
  if (kind === 'pay_community_name') {
    const payment = decodePayment(body)
    const [community, name] = [wordToName(payment.community), wordToName(payment.name)]
    if (community === null || name === null) throw new RangeError('a payment for no name has registered none')
    return { community, name, wallet: payment.payer }
  }
  const change = decodeCommunityChange(kind, body)
  if (change.kind !== kind) throw new RangeError(`a ${change.kind} is no ${kind}`)
  return change
}
