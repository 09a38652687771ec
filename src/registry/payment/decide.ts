import { lowestPrice, type RulesVersion, rulesAtBlock } from '../community/history.js'
import { NATIVE } from '../community/rules.js'
import { addressOfWord, decodeAddress } from '../primitives/address.js'
import { toHex, wordToBigInt } from '../primitives/bytes.js'
import { wordToName } from '../primitives/name.js'

/** A payment for a community name, as a chain shows it. */
export interface CommunityPayment {
  /** The label of the network it was made on. */
  network: string
  /** `native`, or the token's address or mint in its answer form. */
  token: string
  /** Base units. */
  amount: bigint
  /** In its answer form. */
  recipient: string
  /** null for a word that is no name. */
  community: string | null
  name: string | null
  /** The time of its block, ms. */
  blockMs: number
}

/** The data words of the payments contract's `Bid`, by their first byte. */
const WORDS = { from: 0, chainId: 32, token: 64, amount: 96, recipient: 128, community: 160, name: 192, referral: 224 }
const DATA_BYTES = 256

/**
 * The `Bid(bytes32 from,uint256 tokenChainId,address token,uint256 amount,address paymentRecipient,bytes32 communityName,
 * bytes32 walletName,bytes32 referralAddress)` of the payments contract. Throws RangeError for data of another length.
 */
export function decodePaymentLog(data: Buffer) {
  if (data.length !== DATA_BYTES) throw new RangeError(`a payment's log has ${DATA_BYTES} bytes, not ${data.length}`)
  const wordAt = (start: number) => data.subarray(start, start + 32)
  const addressAt = (start: number) => toHex(data.subarray(start + 12, start + 32))
  const token = addressAt(WORDS.token)
  const referral = wordAt(WORDS.referral)
  return {
    /** The payer, who gets the name. */
    payer: decodeAddress(addressOfWord(wordAt(WORDS.from))),
    chainId: wordToBigInt(wordAt(WORDS.chainId)),
    token: BigInt(token) === 0n ? NATIVE : token,
    amount: wordToBigInt(wordAt(WORDS.amount)),
    recipient: addressAt(WORDS.recipient),
    community: wordToName(wordAt(WORDS.community)),
    name: wordToName(wordAt(WORDS.name)),
    referral: referral.some((byte) => byte !== 0) ? referral : null,
  }
}

/** Why a payment buys nothing. `lost`: the name went to somebody else; all others: it should not have been made so. */
export type PaymentRefusal =
  | 'malformed_name'
  /** No community at the time of the block. */
  | 'not_found'
  /** Before the community's start. */
  | 'not_active'
  /** In a token, on a network or to a recipient that was not asked for. */
  | 'no_price'
  | 'underpaid'
  | 'requirements_not_met'
export type PaymentJudgement =
  | { outcome: 'registered' }
  | { outcome: 'lost' }
  | { outcome: 'refused'; reason: PaymentRefusal }

export interface PaymentFacts {
  /** The community's rules from the first on. */
  history: readonly RulesVersion[]
  /** Somebody has the name, or it is a public wallet name of the community's cluster. */
  isTaken: boolean
  /** The payer meets the requirements of the rules at the time of the block (`rulesAtBlock`), read at confirmation. */
  areRequirementsMet: boolean
}

/**
 * Judges a payment anew when it is confirmed: what was quoted may have changed since. Whatever is not `registered` goes
 * back to the payer. The start counts by the block's time, the price is the lowest in force from 30 min before the block.
 */
export function judgePayment(payment: CommunityPayment, facts: PaymentFacts): PaymentJudgement {
  const refused = (reason: PaymentRefusal) => ({ outcome: 'refused', reason }) as const
  if (payment.community === null || payment.name === null) return refused('malformed_name')
  const rules = rulesAtBlock(facts.history, payment.blockMs)
  if (!rules) return refused('not_found')
  if (rules.startsAtMs !== null && payment.blockMs < rules.startsAtMs) return refused('not_active')
  const price = lowestPrice(facts.history, payment, payment.blockMs)
  if (price === null) return refused('no_price')
  if (payment.amount < price) return refused('underpaid')
  if (facts.isTaken) return { outcome: 'lost' }
  return facts.areRequirementsMet ? { outcome: 'registered' } : refused('requirements_not_met')
}
