import type { PAYMENT_REFUSALS } from '../invalidReasons.js'
import { addressOfWord, decodeAddress } from '../primitives/address.js'
import { toHex, wordToBigInt } from '../primitives/bytes.js'
import { wordToName } from '../primitives/name.js'
import { lowestPriceWithinGrace, type RulesVersion, rulesAtBlock } from './history.js'
import { NATIVE_COIN } from './rules.js'

/** A payment for a community name: the data that decide whether the payment registers the name. */
export interface CommunityPayment {
  /** Label of the chain on which the payment was made. */
  network: string
  /** `native`, or the token's address or mint as responses show it. */
  token: string
  /** Base units. */
  amount: bigint
  /** Recipient's address as responses show it. */
  recipient: string
  /** Canonical name of the community. Null where the payment's bytes32 is not a valid name. */
  community: string | null
  /**
   * The part after the slash: `alice` of `club/alice`, canonical. Null where the payment's bytes32 is not a valid name.
   */
  name: string | null
  /** Time of the block, ms. */
  blockMs: number
}

/** Byte offsets in the data of the payments contract's `Bid` event. */
const WORD_OFFSETS = {
  from: 0,
  chainId: 32,
  token: 64,
  amount: 96,
  recipient: 128,
  community: 160,
  name: 192,
  referral: 224,
}
const LOG_DATA_BYTES = 256

/**
 * Decodes `Bid(bytes32 from,uint256 tokenChainId,address token,uint256 amount,address paymentRecipient,bytes32
 * communityName, bytes32 walletName,bytes32 referralAddress)` of the payments contract. The zero token is `native`, a
 * malformed name is null, and so is a zero referral.
 * @throws RangeError for data of another length
 */
export function decodePaymentLog(data: Buffer) {
  if (data.length !== LOG_DATA_BYTES)
    throw new RangeError(`a payment's log has ${LOG_DATA_BYTES} bytes, not ${data.length}`)
  const wordAt = (start: number) => data.subarray(start, start + 32)
  const addressAt = (start: number) => toHex(data.subarray(start + 12, start + 32))
  const token = addressAt(WORD_OFFSETS.token)
  const referral = wordAt(WORD_OFFSETS.referral)
  return {
    /** Payer, who becomes the owner of the name. */
    payer: decodeAddress(addressOfWord(wordAt(WORD_OFFSETS.from))),
    chainId: wordToBigInt(wordAt(WORD_OFFSETS.chainId)),
    token: BigInt(token) === 0n ? NATIVE_COIN : token,
    amount: wordToBigInt(wordAt(WORD_OFFSETS.amount)),
    recipient: addressAt(WORD_OFFSETS.recipient),
    community: wordToName(wordAt(WORD_OFFSETS.community)),
    name: wordToName(wordAt(WORD_OFFSETS.name)),
    referral: referral.some((byte) => byte !== 0) ? referral : null,
  }
}

/** Reason why a payment buys nothing. */
type PaymentRefusal = 'malformed_name' | keyof typeof PAYMENT_REFUSALS

export type CommunityPaymentDecision =
  | { outcome: 'registered' }
  /** The name was taken already. */
  | { outcome: 'lost' }
  | { outcome: 'refused'; reason: PaymentRefusal }

export interface PaymentDecisionInputs {
  /** All versions of the community's rules, oldest first. */
  history: readonly RulesVersion[]
  /** True if the name is registered, or is the name of a public wallet of the community's cluster. */
  isTaken: boolean
  /** True if, when the payment was confirmed, the payer met the requirements in force at its block (`rulesAtBlock`). */
  areRequirementsMet: boolean
}

/**
 * Decides whether a confirmed payment registers its name: the rules may have changed since its quote. The payment is
 * refunded unless the outcome is `registered`. The minimum amount is the lowest price in force from 30 min before the
 * block (`lowestPriceWithinGrace`). All other rules count as in force at the block.
 */
export function decideCommunityPayment(
  payment: CommunityPayment,
  inputs: PaymentDecisionInputs,
): CommunityPaymentDecision {
  const refused = (reason: PaymentRefusal) => ({ outcome: 'refused', reason }) as const
  if (payment.community === null || payment.name === null) return refused('malformed_name')
  const rules = rulesAtBlock(inputs.history, payment.blockMs)
  if (!rules) return refused('not_found')
  if (payment.blockMs < (rules.startsAtMs ?? 0)) return refused('not_active')
  const price = lowestPriceWithinGrace(inputs.history, payment, payment.blockMs)
  if (price === null) return refused('no_price')
  if (payment.amount < price) return refused('underpaid')
  if (inputs.isTaken) return { outcome: 'lost' }
  return inputs.areRequirementsMet ? { outcome: 'registered' } : refused('requirements_not_met')
}
