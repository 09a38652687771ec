import { z } from 'zod'
import { wordToName } from '../primitives/name.js'
import { bytesField, decodeBody, encodeBody, walletField, wordField } from './body.js'

const communityPaymentBodySchema = z.strictObject({
  /** Transaction hash or signature. */
  tx: bytesField(),
  /** Label of the chain on which the payment was made. */
  network: z.string(),
  /** Stored address of the payer, who becomes the owner of the name. */
  payer: walletField,
  /** `native`, or the token's address or mint as responses show it. */
  token: z.string(),
  /** Base units. */
  amount: z.codec(z.string().regex(/^[0-9]+$/), z.bigint(), {
    decode: (text) => BigInt(text),
    encode: String,
  }),
  recipient: z.string(),
  /** Community and name as the payment has them: bytes32, which may be no valid names. */
  community: wordField,
  name: wordField,
  /** Referrer as bytes32, null without a referrer. */
  referral: wordField.nullable(),
  /**
   * Time of the payment, ms: the time of its block. For a payment to a Solana program, the time from which it can be
   * reclaimed minus the program's hold period.
   */
  blockMs: z.int(),
  /**
   * `requirementsHash` of the requirements in force at the block, if the payer met them. An empty list of requirements
   * is always met. Null for other payers, and for a payment that the payer has back or may soon get back.
   */
  met: wordField.nullable(),
  /**
   * Sequence number of the journal entry of an earlier payment that bought the name, if its payer got the money back.
   * The name is then free.
   */
  freed: z.int().optional(),
})
export type CommunityPaymentBody = z.output<typeof communityPaymentBodySchema>

export interface PaymentContent {
  kind: 'pay_community_name'
  payment: CommunityPaymentBody
  /** Canonical name of the community. Null where the payment's bytes32 is not a valid name. */
  community: string | null
  /** Canonical name below the community. Null where the payment's bytes32 is not a valid name. */
  name: string | null
}

/** Encodes the body of a payment's entry. @throws RangeError for a payment that the schema refuses */
export function encodePayment(payment: CommunityPaymentBody): Buffer {
  return encodeBody('pay_community_name', communityPaymentBodySchema, payment)
}

/** Decodes the body of a payment's entry. @throws RangeError for a body that the schema refuses */
export function decodePayment(body: Buffer): PaymentContent {
  const payment = decodeBody('pay_community_name', communityPaymentBodySchema, body)
  const { community, name } = payment
  return {
    kind: 'pay_community_name',
    payment,
    community: wordToName(community),
    name: wordToName(name),
  }
}
