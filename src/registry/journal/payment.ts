import { z } from 'zod'
import { wordToName } from '../primitives/name.js'
import { bytes, decodeBody, encodeBody, signer, word } from './body.js'

/** A confirmed payment for a community name with everything that decides about it. */
const schema = z.strictObject({
  /** Transaction hash or signature. */
  tx: bytes(),
  /** Label of the network it was made on. */
  network: z.string(),
  /** Stored address; gets the name. */
  payer: signer,
  /** `native`, or the token's address or mint in its answer form. */
  token: z.string(),
  /** Base units. */
  amount: z.codec(z.string().regex(/^[0-9]+$/), z.bigint(), { decode: (text) => BigInt(text), encode: String }),
  recipient: z.string(),
  /** Words of the names, as they were paid for. */
  community: word,
  name: word,
  /** null for nobody. */
  referral: word.nullable(),
  /** Time of the block, ms. */
  blockMs: z.int(),
  /**
   * `requirementsHash` of the requirements in force at the block, where the payer was found to meet them; no
   * requirements have a hash too. null for a payment that has been refunded already.
   */
  met: word.nullable(),
})
export type CommunityPaymentBody = z.output<typeof schema>

export interface PaymentContent {
  kind: 'pay_community_name'
  payment: CommunityPaymentBody
  /** null for a word that is no name. */
  community: string | null
  name: string | null
}

/** The body of a payment's entry. Throws RangeError for a payment that the schema refuses. */
export function encodePayment(payment: CommunityPaymentBody): Buffer {
  return encodeBody('pay_community_name', schema, payment)
}

/** Reads a payment's body, and the names in its words. Throws RangeError for a body that is none. */
export function decodePayment(body: Buffer): PaymentContent {
  const payment = decodeBody('pay_community_name', schema, body)
  const { community, name } = payment
  return { kind: 'pay_community_name', payment, community: wordToName(community), name: wordToName(name) }
}
