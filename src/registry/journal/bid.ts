import { wordToBigInt } from '../primitives/bytes.js'
import { wordToName } from '../primitives/name.js'

/**
 * The body of a journalled bid: the whole transaction hash, then the log's own data words
 * (`Bid(bytes32 from,uint256 amount,bytes32 name)`, with referral one word more).
 */
export const BID_WORDS = {
  txHash: 0,
  from: 32,
  amount: 64,
  name: 96,
  referral: 128,
  length: 128,
  lengthWithReferral: 160,
}

export interface Bid {
  txHash: Buffer
  /** The `from` word of the log. */
  from: Buffer
  amountWei: bigint
  nameWord: Buffer
  referral: Buffer | null
}

/** Takes a bid's body apart. Throws RangeError for a body of another length. */
export function decodeBid(body: Buffer): Bid {
  if (body.length !== BID_WORDS.length && body.length !== BID_WORDS.lengthWithReferral) {
    throw new RangeError(
      `a bid's body has ${BID_WORDS.length} or ${BID_WORDS.lengthWithReferral} bytes, not ${body.length}`,
    )
  }
  return {
    txHash: body.subarray(0, 32),
    from: body.subarray(BID_WORDS.from, BID_WORDS.amount),
    amountWei: wordToBigInt(body.subarray(BID_WORDS.amount, BID_WORDS.name)),
    nameWord: body.subarray(BID_WORDS.name, BID_WORDS.referral),
    referral: body.length === BID_WORDS.lengthWithReferral ? body.subarray(BID_WORDS.referral) : null,
  }
}

/** Stored in `names.outcome` and in a bid's effects. Never renumber. */
export const OUTCOME = { won: 1, lost: 2, refused: 3 } as const
export type Outcome = keyof typeof OUTCOME

/** Why the hub refuses a bid for its form: the `reason` of its `BidRefused` event. */
export const REFUSAL = { malformed_name: 1, below_minimum: 2 } as const
export type Refusal = keyof typeof REFUSAL

export type Judgement =
  | { outcome: 'won'; name: string }
  | { outcome: 'lost'; name: string }
  | { outcome: 'refused'; name: string | null; reason: Refusal }

/**
 * Who wins: the first confirmed bid on the hub, by (block, log index), that is well-formed and at least the minimum. Every
 * name of a batch is judged alone. The hub contract judges by the same rule.
 */
export function judgeBid(
  bid: { amountWei: bigint; nameWord: Buffer },
  minimumWei: bigint,
  isOwned: (name: string) => boolean,
): Judgement {
  const name = wordToName(bid.nameWord)
  if (name === null) return { outcome: 'refused', name, reason: 'malformed_name' }
  if (bid.amountWei < minimumWei) return { outcome: 'refused', name, reason: 'below_minimum' }
  return { outcome: isOwned(name) ? 'lost' : 'won', name }
}
