import bs58 from 'bs58'
import { NATIVE_COIN } from '../../../src/registry/community/rules.js'
import type { HubNameTarget, Payment } from '../../../src/registry/payment/payment.js'
import {
  deriveQuoteId,
  paymentMessageId,
  paymentSourceId,
  type QuotedPaymentEvent,
  type QuotedProgram,
  verifyQuote,
} from '../../../src/registry/payment/quote.js'
import { addressToWord, parseAddress } from '../../../src/registry/primitives/address.js'
import { fromHex, toHex } from '../../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../../src/registry/primitives/name.js'
import type { LedgerPayment, Order } from './server.js'

/** Identity of the ledger, as of a program on a cluster. */
export const PROGRAM: QuotedProgram = {
  network: 'mainnet',
  genesisHash: Buffer.alloc(32, 1),
  programId: Buffer.alloc(32, 2),
}

/** Time after a payment from which nobody delivers it. */
const HELD_MS = 86_400_000

type Terms = Omit<Order, 'quoteId'>

function termsOf({ payer, name, amountWei, units, expiresAt }: Terms) {
  return {
    payer: addressToWord(storedAddress(payer)),
    name: nameToWord(name),
    amountWei: BigInt(amountWei),
    lamports: BigInt(units),
    expiresAt: BigInt(expiresAt),
    referral: Buffer.alloc(32),
  }
}

function storedAddress(text: string): Buffer {
  const address = parseAddress(text)
  if (typeof address === 'string') throw new Error(`${text} is no address`)
  return address.bytes
}

/** An order under a quote of ours. */
export const orderOf = (key: Uint8Array, terms: Terms): Order => ({
  ...terms,
  quoteId: toHex(deriveQuoteId(key, PROGRAM, termsOf(terms))),
})

/** A payment of the ledger as it is stored. */
export function storedPayment(
  keys: readonly Uint8Array[],
  paid: LedgerPayment,
): Payment<HubNameTarget> {
  const source = paymentSourceId(PROGRAM.genesisHash, PROGRAM.programId)
  const terms = termsOf(paid)
  const quoted: QuotedPaymentEvent = {
    ...terms,
    sequence: BigInt(paid.sequence),
    quoteId: fromHex(paid.quoteId),
  }
  return {
    id: paymentMessageId(source, quoted.sequence),
    tx: Buffer.from(bs58.decode(paid.id)),
    block: paid.height,
    blockHash: null,
    sequence: paid.sequence,
    payer: storedAddress(paid.payer),
    money: { token: NATIVE_COIN, amount: terms.lamports },
    referral: null,
    paidMs: paid.timeMs,
    target: {
      kind: 'name',
      name: terms.name,
      source,
      quoteId: Buffer.from(quoted.quoteId),
      amountWei: terms.amountWei,
      expiresAt: paid.expiresAt,
      verdict: verifyQuote(keys, PROGRAM, quoted),
      reclaimableMs: paid.timeMs + HELD_MS,
    },
  }
}
