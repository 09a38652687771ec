import { randomBytes } from 'node:crypto'
import type pg from 'pg'
import { QUOTE_VERDICT, type QuoteVerdict } from '../../src/registry/payment/payment.js'
import { paymentMessageId, paymentSourceId } from '../../src/registry/payment/quote.js'
import { addressOfWord } from '../../src/registry/primitives/address.js'
import { nameToWord } from '../../src/registry/primitives/name.js'

export interface TestPayment {
  name: string
  payer?: Uint8Array
  quoteId?: Uint8Array
  amountWei?: bigint
  lamports?: bigint
  sequence?: bigint
  slot?: number
  referral?: Uint8Array
  verdict?: QuoteVerdict
  confirmed?: boolean
  chain?: number
}

/** Ascends: payments of the same millisecond are delivered in this order. */
let nextSequence = BigInt(Math.floor(Math.random() * 2 ** 40))

/** Writes a payment as the watcher would have. @returns its message id */
export async function insertPayment(pool: pg.Pool, payment: TestPayment): Promise<Buffer> {
  const sequence = payment.sequence ?? nextSequence++
  const source = paymentSourceId(Buffer.alloc(32, 1), Buffer.alloc(32, 2))
  const id = paymentMessageId(source, sequence)
  await pool.query(
    `INSERT INTO payments (network, kind, token, id, chain, sequence, tx, block, payer, quote_id, name_word, amount_wei, amount,
       expires_at, referral, paid_ms, state, verdict, source, reclaimable_ms)
     VALUES (0, 1, 'native', $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    [
      id,
      payment.chain ?? 9,
      sequence.toString(),
      randomBytes(64),
      payment.slot ?? 1,
      addressOfWord(Buffer.from(payment.payer ?? randomBytes(32))),
      payment.quoteId ?? randomBytes(32),
      nameToWord(payment.name),
      (payment.amountWei ?? 10n ** 16n).toString(),
      (payment.lamports ?? 1_000_000n).toString(),
      Math.floor(Date.now() / 1_000) + 600,
      payment.referral ?? null,
      Date.now(),
      Number(payment.confirmed ?? true),
      QUOTE_VERDICT[payment.verdict ?? 'honoured'],
      source,
      Date.now() + 7 * 86_400_000,
    ],
  )
  return id
}
