import { addressOfWord } from '../primitives/address.js'
import { wordToBigInt } from '../primitives/bytes.js'
import { wordToName } from '../primitives/name.js'

/**
 * Byte offsets in the body of a bid, and the body's length in bytes without `PAUSED_HUB_SUFFIX`. The body is the
 * transaction hash, then the data words of the log (`Bid(bytes32 from,uint256 amount,bytes32 name)`, with a referral
 * one word more). `PAUSED_HUB_SUFFIX` follows where the hub refused the bid because it was paused.
 */
export const BID_OFFSETS = {
  txHash: 0,
  from: 32,
  amount: 64,
  name: 96,
  referral: 128,
  length: 128,
  lengthWithReferral: 160,
}
/** Last byte in the body of a bid that a paused hub refused. */
export const PAUSED_HUB_SUFFIX = Buffer.from([1])

export interface Bid {
  kind: 'bid'
  /** Stored address of the bidder. */
  wallet: Buffer
  amountWei: bigint
  /** Canonical name. Null where the log's bytes32 is not a valid name. */
  name: string | null
  /** True where the bid's message reached a paused hub. */
  isPaused: boolean
}

/** Decodes the body of a bid. @throws RangeError for a body of another length */
export function decodeBid(body: Buffer): Bid {
  const isPaused =
    body.length % 32 === PAUSED_HUB_SUFFIX.length && body.at(-1) === PAUSED_HUB_SUFFIX[0]
  const length = isPaused ? body.length - PAUSED_HUB_SUFFIX.length : body.length
  if (length !== BID_OFFSETS.length && length !== BID_OFFSETS.lengthWithReferral) {
    throw new RangeError(
      `a bid's body has ${BID_OFFSETS.length} or ${BID_OFFSETS.lengthWithReferral} bytes, not ${length}`,
    )
  }
  return {
    kind: 'bid',
    wallet: addressOfWord(body.subarray(BID_OFFSETS.from, BID_OFFSETS.amount)),
    amountWei: wordToBigInt(body.subarray(BID_OFFSETS.amount, BID_OFFSETS.name)),
    name: wordToName(bidNameWord(body)),
    isPaused,
  }
}

/** Transaction hash in the body of a bid. @returns 32 bytes */
export const bidTxHash = (body: Buffer): Buffer =>
  body.subarray(BID_OFFSETS.txHash, BID_OFFSETS.from)

/** Name word (bytes32) in the body of a bid. The name may be malformed. */
export const bidNameWord = (body: Buffer): Buffer =>
  body.subarray(BID_OFFSETS.name, BID_OFFSETS.referral)

/** Codes of bids' outcomes in the column `names.outcome` and in effects. Never renumber. */
export const BID_OUTCOME = { won: 1, lost: 2, refused: 3 } as const
export type BidOutcome = keyof typeof BID_OUTCOME

/** Reasons for which a bid is refused, by their codes in the hub's `BidRefused` event. */
export const BID_REFUSAL = { malformed_name: 1, below_minimum: 2, paused: 3 } as const
export type BidRefusal = keyof typeof BID_REFUSAL

export type BidDecision =
  | { outcome: 'won'; name: string }
  | { outcome: 'lost'; name: string }
  | { outcome: 'refused'; name: string | null; reason: BidRefusal }

/**
 * Decides a bid. A valid bid has a well-formed name, is at least the minimum, and reached a hub that was not paused.
 * The first valid confirmed bid for a name, by block and log index, wins. Bids of one transaction are decided
 * independently, as in the hub contract.
 * @param isOwned whether an earlier bid has won the name
 */
export function decideBid(
  { amountWei, name, isPaused }: Pick<Bid, 'amountWei' | 'name' | 'isPaused'>,
  minimumWei: bigint,
  isOwned: (name: string) => boolean,
): BidDecision {
  if (name === null) return { outcome: 'refused', name, reason: 'malformed_name' }
  if (amountWei < minimumWei) return { outcome: 'refused', name, reason: 'below_minimum' }
  if (isPaused) return { outcome: 'refused', name, reason: 'paused' }
  return { outcome: isOwned(name) ? 'lost' : 'won', name }
}
