import { wordToBigInt } from '../primitives/bytes.js'
import { type Bid, decodeBid } from './bid.js'
import { decodeChange, encodeChange, type MoveNamesContent, type SignedChange } from './change.js'
import type { Entry } from './entry.js'
import { decodePayment, type PaymentContent } from './payment.js'
import { RULESET_VERSION } from './ruleset.js'

/** Decoded body of an entry. */
type EntryContent =
  | Bid
  | { kind: 'minimum'; minimumWei: bigint }
  | SignedChange
  | PaymentContent
  | MoveNamesContent

/** Entry with its decoded body. It is decoded once, where it is read from a log, a request or the journal. */
export interface DecodedEntry extends Required<Entry> {
  content: EntryContent
}

/** Decodes an entry's body into `content`. @throws RangeError for an invalid body, and for a `mirrored` entry */
export function decodeEntry({
  kind,
  position,
  txKey,
  causeMs,
  body,
  ruleset = RULESET_VERSION,
}: Entry): DecodedEntry {
  // listed field by field: a spread takes longer than the decoding
  return { kind, position, txKey, causeMs, body, ruleset, content: decodeContent(kind, body) }
}

/**
 * New entry of a change, decided by the newest rules.
 * @throws RangeError for a change that its schema refuses
 */
export const entryOfChange = (
  change: SignedChange | MoveNamesContent,
  causeMs: number,
): DecodedEntry => ({
  kind: change.kind,
  position: null,
  txKey: null,
  causeMs,
  body: encodeChange(change),
  ruleset: RULESET_VERSION,
  content: change,
})

function decodeContent(kind: Entry['kind'], body: Buffer): EntryContent {
  switch (kind) {
    case 'bid':
      return decodeBid(body)
    case 'minimum':
      if (body.length !== 32)
        throw new RangeError(`the body of a minimum is one word, not ${body.length} bytes`)
      return { kind, minimumWei: wordToBigInt(body) }
    case 'pay_community_name':
      return decodePayment(body)
    case 'mirrored':
      throw new RangeError('an entry of a mirror has no body to decode')
    default:
      return decodeChange(kind, body)
  }
}
