import type pg from 'pg'
import { PAYMENT_KIND, PAYMENT_STATE } from '../../registry/payment/payment.js'
import { type ChainKey, execute, type Queryable, query } from '../pg/rows.js'

/** Progress of a Solana program's watcher. */
export interface PaymentCursor {
  /** The newest confirmed transaction that was taken in, null before the first. */
  signature: Buffer | null
  slot: number
  /** Every payment for a name on the hub is known up to this sequence. */
  sequence: number
  /** Every payment for a community name is known up to this sequence, in a count of its own. */
  communitySequence: number
}

/** The cursor of a chain; at its start slot before the first payment. */
export async function readCursor(
  pool: pg.Pool,
  { network, chain }: ChainKey,
  startSlot: number,
): Promise<PaymentCursor> {
  const text =
    'SELECT signature, slot, sequence, community_sequence FROM payment_cursors WHERE network = $1 AND chain = $2'
  const [cursor] = await query<PaymentCursor>(pool, network, text, [chain])
  return cursor ?? { signature: null, slot: startSlot, sequence: 0, communitySequence: 0 }
}

/**
 * The sequence up to which all of a program's payments for community names are stored as confirmed: counted from the
 * cursor on, which may wait before a gap.
 */
export async function readKnownCommunityPayments(
  db: Queryable,
  { network, chain }: ChainKey,
  { communitySequence }: PaymentCursor,
): Promise<number> {
  const [row] = await query<{ known: number }>(
    db,
    network,
    `SELECT coalesce(max(sequence), $3::int8) AS known FROM (
       SELECT sequence, row_number() OVER (ORDER BY sequence) AS place FROM payments
       WHERE network = $1 AND chain = $2 AND kind = ${PAYMENT_KIND.communityName} AND block_hash IS NULL
         AND state >= ${PAYMENT_STATE.confirmed} AND sequence > $3) counted
     WHERE sequence = $3 + place`,
    [chain, communitySequence],
  )
  return row?.known ?? communitySequence
}

/**
 * Moves a cursor by compare-and-set, in the transaction of the rows before it.
 * @throws Error when another process has moved the cursor
 */
export async function moveCursor(
  client: pg.ClientBase,
  { network, chain }: ChainKey,
  from: PaymentCursor,
  to: PaymentCursor,
): Promise<void> {
  const text = `INSERT INTO payment_cursors AS c (network, chain, signature, slot, sequence, community_sequence)
    VALUES ($1, $2, $4, $5, $6, $7)
    ON CONFLICT (network, chain) DO UPDATE SET signature = excluded.signature, slot = excluded.slot,
      sequence = excluded.sequence, community_sequence = excluded.community_sequence
    WHERE c.signature IS NOT DISTINCT FROM $3 AND c.sequence = $8`
  const values = [from.signature, to.signature, to.slot, to.sequence, to.communitySequence, from.sequence]
  const count = await execute(client, network, { name: 'move_payment_cursor', text }, [chain, ...values])
  if (count !== 1) throw new Error(`moving the cursor of payments from sequence ${from.sequence}: it has moved`)
}
