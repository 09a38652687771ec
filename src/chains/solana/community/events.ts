import bs58 from 'bs58'

/** A payment for a community name as decoded from a transaction. */
export interface SeenCommunityPayment {
  /** null where the logs were truncated and the transaction holds no other hint. */
  sequence: bigint | null
  /** Unix time, seconds; null under the same condition. */
  heldUntil: bigint | null
  /** 32 bytes, as the other fields of type Buffer. */
  payer: Buffer
  /** The mint; null for SOL. */
  token: Buffer | null
  /** Base units. */
  amount: bigint
  recipient: Buffer
  community: Buffer
  name: Buffer
  referral: Buffer
}

/** Outcome of a payment, or of its name. */
export interface CommunityOutcome {
  /**
   * `refused`: owed to the payer; `returned`: paid to the payer; `released`: paid to the recipient; `reopened`: name
   * free again.
   */
  kind: 'refused' | 'returned' | 'released' | 'reopened'
  sequence: bigint
  community: Buffer
  name: Buffer
}

/** Lengths of events with their discriminator. */
export const COMMUNITY_EVENT_BYTES: Readonly<Record<string, number>> = {
  CommunityPaid: 224,
  CommunityRefused: 152,
  CommunityReleased: 152,
  CommunityReturned: 152,
  CommunityReopened: 80,
}

const OUTCOME_KIND: Readonly<Record<string, CommunityOutcome['kind']>> = {
  CommunityRefused: 'refused',
  CommunityReleased: 'released',
  CommunityReturned: 'returned',
  CommunityReopened: 'reopened',
}

/** Lengths of paying instructions with their discriminator. */
export const COMMUNITY_PAY_BYTES: Readonly<Record<string, number>> = { pay_community: 144, pay_community_token: 145 }
const PAYER_AT = 0
const MINT_AT = 5

/** The payment of a `CommunityPaid` event. */
export const communityPaid = (fields: object): SeenCommunityPayment => {
  const paid = fields as SeenCommunityPayment & { token: Buffer }
  return { ...paid, token: paid.token.some((byte) => byte !== 0) ? paid.token : null }
}

/** The outcome of a payment; null for other events. */
export function communityOutcome(event: string, fields: object): CommunityOutcome | null {
  const kind = OUTCOME_KIND[event]
  const { sequence, community, name } = fields as CommunityOutcome
  return kind ? { kind, sequence, community, name } : null
}

/**
 * Decodes the payment of an instruction, which lacks what only the program knows.
 * @param accounts of the instruction, in base58
 * @returns null for other instructions
 */
export function communityInstruction(
  instruction: string,
  fields: object,
  accounts: readonly (string | undefined)[],
): SeenCommunityPayment | null {
  const isToken = instruction === 'pay_community_token'
  const [payer, mint] = [accounts[PAYER_AT], accounts[MINT_AT]]
  if ((!isToken && instruction !== 'pay_community') || !payer || (isToken && !mint)) return null
  const { amount, recipient, community, name, referral } = fields as SeenCommunityPayment
  return {
    ...{ sequence: null, heldUntil: null, amount, recipient, community, name, referral },
    payer: Buffer.from(bs58.decode(payer)),
    token: isToken && mint ? Buffer.from(bs58.decode(mint)) : null,
  }
}
