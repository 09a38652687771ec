import type pg from 'pg'
import type { PaymentCursor as StoredCursor } from '../generated/client.js'
import { type ChainRowKey, type DecodedRow, execute, prepared, query } from '../pg/rows.js'

/**
 * Cursor of a Solana program's payments: they are stored up to the transaction `signature` in `slot`. `sequence` and
 * `communitySequence` are the program's counts of payments up to there, for names on the hub and for community names.
 */
export type PaymentCursor = Omit<DecodedRow<StoredCursor>, 'network' | 'chain'>

/** The cursor of a chain. Before the first payment it is at the start slot. */
export async function readPaymentCursor(
  pool: pg.Pool,
  { network, chain }: ChainRowKey,
  startSlot: number,
): Promise<PaymentCursor> {
  const text =
    'SELECT signature, slot, sequence, community_sequence FROM payment_cursors WHERE network = $1 AND chain = $2'
  const [cursor] = await query<PaymentCursor>(pool, network, text, [chain])
  return cursor ?? { signature: null, slot: startSlot, sequence: 0, communitySequence: 0 }
}

/**
 * Moves a cursor by compare-and-set, in the transaction that writes the payments up to its new position.
 * @throws Error when another process has moved the cursor
 */
export async function movePaymentCursor(
  client: pg.ClientBase,
  { network, chain }: ChainRowKey,
  from: PaymentCursor,
  to: PaymentCursor,
): Promise<void> {
  const text = `INSERT INTO payment_cursors AS c (network, chain, signature, slot, sequence, community_sequence)
    VALUES ($1, $2, $4, $5, $6, $7)
    ON CONFLICT (network, chain) DO UPDATE SET signature = excluded.signature, slot = excluded.slot,
      sequence = excluded.sequence, community_sequence = excluded.community_sequence
    WHERE c.signature IS NOT DISTINCT FROM $3 AND c.sequence = $8`
  const values = [
    from.signature,
    to.signature,
    to.slot,
    to.sequence,
    to.communitySequence,
    from.sequence,
  ]
  const count = await execute(client, network, prepared(text), [chain, ...values])
  if (count !== 1)
    throw new Error(`moving the cursor of payments from sequence ${from.sequence}: it has moved`)
}
