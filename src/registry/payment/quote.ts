import { createHmac, timingSafeEqual } from 'node:crypto'
import { keccak256 } from '../primitives/keccak.js'
import { NETWORK_CODE, type Network } from '../primitives/network.js'
import type { QuoteVerdict } from './payment.js'

/** Terms of a quote, which the program enforces. */
export interface PaymentTerms {
  /** The payer's key, 32 bytes. */
  payer: Uint8Array
  /** The name as bytes32 (`nameToWord` in name.ts). */
  name: Uint8Array
  /** Value of the bid on the hub, below 2^128. */
  amountWei: bigint
  /** Price, below 2^63. */
  lamports: bigint
  /** Unix seconds. The program accepts no later payment. */
  expiresAt: bigint
  /** The credited referrer as bytes32; zero for none. */
  referral: Uint8Array
}

/** A paid quote, as in the program's event. */
export interface QuotedPaymentEvent extends PaymentTerms {
  /** Number of the payment in the program's own count, from 1. */
  sequence: bigint
  quoteId: Uint8Array
}

const WORD_BYTES = 32
export const QUOTE_AMOUNT_BITS = 128n
/** Quotes stay below 2^63 lamports, although lamports are a u64 on chain. */
export const QUOTE_LAMPORTS_BITS = 63n

/** The program that a quote is paid to. */
export interface QuotedProgram {
  network: Network
  /** Genesis hash, 32 bytes like the program id. */
  genesisHash: Uint8Array
  programId: Uint8Array
}

/**
 * Canonical bytes of a quote: network u8 ‖ genesis hash 32 ‖ program id 32 ‖ payer 32 ‖ name 32 ‖ amount u128 ‖
 * lamports u64 ‖ expiry i64 ‖ referral 32, big-endian.
 */
function canonicalQuoteBytes(
  { network, genesisHash, programId }: QuotedProgram,
  terms: PaymentTerms,
): Buffer {
  const { payer, name, referral } = terms
  for (const word of [genesisHash, programId, payer, name, referral])
    if (word.length !== WORD_BYTES)
      throw new RangeError(`a word of a quote has ${WORD_BYTES} bytes, not ${word.length}`)
  const numbers = Buffer.alloc(32)
  numbers.writeBigUInt64BE(terms.amountWei >> 64n, 0)
  numbers.writeBigUInt64BE(BigInt.asUintN(64, terms.amountWei), 8)
  numbers.writeBigUInt64BE(terms.lamports, 16)
  numbers.writeBigInt64BE(terms.expiresAt, 24)
  return Buffer.concat([
    Buffer.of(NETWORK_CODE[network]),
    genesisHash,
    programId,
    payer,
    name,
    numbers,
    referral,
  ])
}

/**
 * Id of a quote: HMAC-SHA256 of its terms under the deployment's quote key. Quotes are not stored. A payment whose id
 * matches its terms was quoted by this deployment.
 * @returns 32 bytes
 * @throws RangeError for words that are not 32 bytes long, and for numbers that don't fit the program's arguments
 */
export const deriveQuoteId = (
  key: Uint8Array,
  program: QuotedProgram,
  terms: PaymentTerms,
): Buffer => createHmac('sha256', key).update(canonicalQuoteBytes(program, terms)).digest()

/**
 * Checks whether a payment has a quote of this deployment. Never throws for on-chain values.
 * @param keys the current quote key and earlier ones
 */
export function verifyQuote(
  keys: readonly Uint8Array[],
  program: QuotedProgram,
  payment: QuotedPaymentEvent,
): QuoteVerdict {
  const isOurs = keys.some((key) => {
    const id = deriveQuoteId(key, program, payment)
    return payment.quoteId.length === id.length && timingSafeEqual(payment.quoteId, id)
  })
  return isOurs ? 'honoured' : 'foreign'
}

/** Id by which the hub knows a program as a source of payments: keccak256(genesis hash 32 ‖ program id 32). */
export const paymentSourceId = (genesisHash: Uint8Array, programId: Uint8Array): Buffer =>
  keccak256(Buffer.concat([genesisHash, programId]))

/** Id of a payment in the hub's `Received`, which the hub accepts once: keccak256(source 32 ‖ sequence u64). */
export function paymentMessageId(source: Uint8Array, sequence: bigint): Buffer {
  return keccak256(Buffer.concat([source, u64Bytes(sequence)]))
}

function u64Bytes(sequence: bigint): Buffer {
  const count = Buffer.alloc(8)
  count.writeBigUInt64BE(sequence)
  return count
}

/**
 * Id of a payment for a community name, which has a sequence of its own: keccak256(genesis hash 32 ‖ program id 32 ‖
 * "community" ‖ sequence u64 big-endian).
 */
export function communityPaymentId(
  genesisHash: Uint8Array,
  programId: Uint8Array,
  sequence: bigint,
): Buffer {
  return keccak256(
    Buffer.concat([genesisHash, programId, Buffer.from('community'), u64Bytes(sequence)]),
  )
}

/**
 * Last sequence number up to which all payments are known.
 * @param known all payments up to this sequence are known
 * @param laterSequences other known sequences; a sequence that becomes contiguous is removed from the set
 */
export function lastContiguousSequence(known: number, laterSequences: Set<number>): number {
  let last = known
  while (laterSequences.delete(last + 1)) last += 1
  return last
}
