import { addressOfWord } from '../primitives/address.js'
import { wordToBigInt } from '../primitives/bytes.js'
import { wordToName } from '../primitives/name.js'

/**
 * Body of a bid: the whole transaction hash, then the data words of the log
 * (`Bid(bytes32 from,uint256 amount,bytes32 name)`, with a referral one word more).
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
  kind: 'bid'
  /** Stored address of the bidder. */
  wallet: Buffer
  amountWei: bigint
  /** null for a word that is no name. */
  name: string | null
}

/** Reads the body of a bid. Throws RangeError for a body of another length. */
export function decodeBid(body: Buffer): Bid {
  if (body.length !== BID_WORDS.length && body.length !== BID_WORDS.lengthWithReferral) {
    throw new RangeError(
      `a bid's body has ${BID_WORDS.length} or ${BID_WORDS.lengthWithReferral} bytes, not ${body.length}`,
    )
  }
  return {
    kind: 'bid',
    wallet: addressOfWord(body.subarray(BID_WORDS.from, BID_WORDS.amount)),
    amountWei: wordToBigInt(body.subarray(BID_WORDS.amount, BID_WORDS.name)),
    name: wordToName(bidNameWord(body)),
  }
}

/** Transaction hash in the body of a bid. @returns 32 bytes */
export const bidTxHash = (body: Buffer): Buffer => body.subarray(BID_WORDS.txHash, BID_WORDS.from)

/** Word of the name in the body of a bid, well-formed or not. @returns 32 bytes */
export const bidNameWord = (body: Buffer): Buffer => body.subarray(BID_WORDS.name, BID_WORDS.referral)

/** Codes of `names.outcome` and of effects. Never renumber. */
export const OUTCOME = { won: 1, lost: 2, refused: 3 } as const
export type Outcome = keyof typeof OUTCOME

/** Why the hub refuses a bid for its form: the `reason` of its `BidRefused` event. */
export const REFUSAL = { malformed_name: 1, below_minimum: 2 } as const
export type Refusal = keyof typeof REFUSAL

export type BidDecision =
  | { outcome: 'won'; name: string }
  | { outcome: 'lost'; name: string }
  | { outcome: 'refused'; name: string | null; reason: Refusal }

/**
 * Who wins a name: the first confirmed bid on the hub, by (block, log index), that is well-formed and at least the
 * minimum. Every name of a batch is decided alone, by the rule of the hub contract.
 */
export function decideBid(
  { amountWei, name }: Pick<Bid, 'amountWei' | 'name'>,
  minimumWei: bigint,
  isOwned: (name: string) => boolean,
): BidDecision {
  if (name === null) return { outcome: 'refused', name, reason: 'malformed_name' }
  if (amountWei < minimumWei) return { outcome: 'refused', name, reason: 'below_minimum' }
  return { outcome: isOwned(name) ? 'lost' : 'won', name }
}
