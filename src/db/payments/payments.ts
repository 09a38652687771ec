import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'

/** A payment on Solana as it is stored. */
export interface StoredPayment {
  /** The id under which the hub takes it (see registry/payment.ts). */
  messageId: Buffer
  sequence: number
  signature: Buffer
  slot: number
  /** Order of its event in the transaction. */
  position: number
  /** Stored address. */
  payer: Buffer
  quoteId: Buffer
  name: Buffer
  amountWei: bigint
  lamports: bigint
  /** Seconds since the epoch, within what a number can hold: a stranger may have put anything. */
  expiresAt: number
  referral: Buffer
  paidMs: number
  /** PAYMENT_VERDICT */
  verdict: number
}

/** How far a program's payments are taken in. */
export interface PaymentCursor {
  /** The newest transaction that is believed and taken in, null before the first. */
  signature: Buffer | null
  slot: number
  /** Every payment up to this sequence is known. */
  sequence: number
}

/** The cursor of a chain as it stands now; at its start slot before the first payment. */
export async function readCursor(
  pool: pg.Pool,
  network: Network,
  chain: number,
  startSlot: number,
): Promise<PaymentCursor> {
  const sql = 'SELECT signature, slot, sequence FROM payment_cursors WHERE network = $1 AND chain = $2'
  const { rows } = await pool.query<PaymentCursor>(sql, [NETWORK_CODE[network], chain])
  return rows[0] ?? { signature: null, slot: startSlot, sequence: 0 }
}

/** Up to which of a program's payments for names of communities all are stored as believed. */
export async function readKnownCommunityPayments(pool: pg.Pool, network: Network, chain: number): Promise<number> {
  const { rows } = await pool.query<{ known: number }>(
    `SELECT coalesce(max(log_index), 0) AS known FROM (
       SELECT log_index, row_number() OVER (ORDER BY log_index) AS place FROM community_payments
       WHERE network = $1 AND chain = $2 AND confirmed) counted
     WHERE log_index = place`,
    [NETWORK_CODE[network], chain],
  )
  return rows[0]?.known ?? 0
}

/**
 * Moves a cursor by compare-and-set, in the transaction of the rows it stands for: it fails when somebody else has moved it.
 */
export async function moveCursor(
  client: pg.ClientBase,
  network: Network,
  chain: number,
  from: PaymentCursor,
  to: PaymentCursor,
): Promise<void> {
  const { rowCount } = await client.query({
    name: 'move_payment_cursor',
    text: `INSERT INTO payment_cursors AS c (network, chain, signature, slot, sequence) VALUES ($1, $2, $4, $5, $6)
      ON CONFLICT (network, chain) DO UPDATE SET signature = excluded.signature, slot = excluded.slot, sequence = excluded.sequence
      WHERE c.signature IS NOT DISTINCT FROM $3 AND c.sequence = $7`,
    values: [NETWORK_CODE[network], chain, from.signature, to.signature, to.slot, to.sequence, from.sequence],
  })
  if (rowCount !== 1)
    throw new Error(`moving the cursor of payments from sequence ${from.sequence}: it is not there any more`)
}

/** Writes payments that are believed. One that is stored as believed is never changed again. */
export const confirmPayments = (
  client: pg.ClientBase,
  network: Network,
  chain: number,
  payments: readonly StoredPayment[],
): Promise<void> => upsert(client, network, chain, payments, true)

/** Makes the payments that are seen but not believed yet exactly these. */
export async function writeTailPayments(
  client: pg.ClientBase,
  network: Network,
  chain: number,
  payments: readonly StoredPayment[],
): Promise<void> {
  await client.query({
    name: 'drop_payments',
    text: 'DELETE FROM payments WHERE network = $1 AND chain = $2 AND NOT confirmed AND message_id <> ALL ($3::bytea[])',
    values: [NETWORK_CODE[network], chain, payments.map(({ messageId }) => messageId)],
  })
  await upsert(client, network, chain, payments, false)
}

async function upsert(
  client: pg.ClientBase,
  network: Network,
  chain: number,
  payments: readonly StoredPayment[],
  isConfirmed: boolean,
): Promise<void> {
  if (payments.length === 0) return
  const text = `INSERT INTO payments AS p (network, chain, confirmed, message_id, sequence, signature, slot, position, payer, quote_id, name,
      amount_wei, lamports, expires_at, referral, paid_ms, verdict)
    SELECT $1, $2, $3, * FROM unnest($4::bytea[], $5::int8[], $6::bytea[], $7::int8[], $8::int4[], $9::bytea[], $10::bytea[], $11::bytea[],
      $12::numeric[], $13::int8[], $14::int8[], $15::bytea[], $16::int8[], $17::int2[])
    ON CONFLICT (network, message_id) DO UPDATE SET
      confirmed = excluded.confirmed, signature = excluded.signature, slot = excluded.slot, position = excluded.position, payer = excluded.payer,
      quote_id = excluded.quote_id, name = excluded.name, amount_wei = excluded.amount_wei, lamports = excluded.lamports,
      expires_at = excluded.expires_at, referral = excluded.referral, paid_ms = excluded.paid_ms, verdict = excluded.verdict
    WHERE NOT p.confirmed`
  await client.query({
    name: 'upsert_payments',
    text,
    values: [
      NETWORK_CODE[network],
      chain,
      isConfirmed,
      payments.map((p) => p.messageId),
      payments.map((p) => p.sequence),
      payments.map((p) => p.signature),
      payments.map((p) => p.slot),
      payments.map((p) => p.position),
      payments.map((p) => p.payer),
      payments.map((p) => p.quoteId),
      payments.map((p) => p.name),
      payments.map((p) => p.amountWei.toString()),
      payments.map((p) => p.lamports.toString()),
      payments.map((p) => p.expiresAt),
      payments.map((p) => p.referral),
      payments.map((p) => p.paidMs),
      payments.map((p) => p.verdict),
    ],
  })
}

/**
 * Lays aside payments that were settled or refunded on Solana, believed.
 * @returns those of them that are stored, as they were given
 */
export async function settlePayments(
  client: pg.ClientBase,
  network: Network,
  messageIds: readonly Buffer[],
): Promise<Buffer[]> {
  if (messageIds.length === 0) return []
  const { rows } = await client.query<{ message_id: Buffer }>({
    name: 'settle_payments',
    text: `UPDATE payments SET settled = true WHERE network = $1 AND message_id = ANY ($2::bytea[]) AND confirmed RETURNING message_id`,
    values: [NETWORK_CODE[network], messageIds],
  })
  return rows.map(({ message_id: id }) => id)
}
