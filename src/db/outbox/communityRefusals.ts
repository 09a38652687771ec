import type pg from 'pg'
import { OUTCOME } from '../../registry/journal/bid.js'
import { decodePayment, encodePayment } from '../../registry/journal/communityChange.js'
import { ENTRY_KIND, type Entry } from '../../registry/journal/entry.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { leaf } from '../pg/partitions.js'
import { insertDeliveries } from './deliveries.js'
import { kindCode } from './deliveryRows.js'
import { payoutKindCode, payoutStateCode } from './payoutRows.js'

const REFUSE = payoutKindCode('refuse')
const REFUSE_DELIVERY = kindCode('refuse')
/** Payouts of which nothing is on its way, and which gave nothing back. */
const UNSENT = [payoutStateCode('queued'), payoutStateCode('parked')].join(', ')

/**
 * Of a payment `p`: a delivery (on Solana a payout) that gives it back, or did. What was only queued, and nothing of it left, doesn't
 * count.
 */
export const REFUSAL_HAS_LEFT = `(EXISTS (SELECT FROM deliveries d WHERE d.network = p.network AND d.kind = ${REFUSE_DELIVERY} AND d.guid = p.payment_id
    AND NOT (d.state IN (0, 5) AND d.nonce IS NULL))
  OR EXISTS (SELECT FROM payouts o WHERE o.network = p.network AND o.message_id = p.payment_id AND o.kind = ${REFUSE}
    AND o.state NOT IN (${UNSENT})))`

/**
 * Queues that payments are given back to their payers, each once. What an earlier generation has ended for one that comes back is
 * looked at again: the chain may have lost it together with the payment.
 */
export async function queueRefusals(
  client: pg.ClientBase,
  network: Network,
  payments: readonly PaymentId[],
  nowMs: number,
): Promise<void> {
  if (payments.length === 0) return
  await insertRefusals(client, network, payments, nowMs)
  await client.query(
    `UPDATE deliveries SET state = CASE WHEN nonce IS NULL THEN 0 ELSE 3 END, next_ms = 0, version = version + 1
     WHERE network = $1 AND guid = ANY ($2::bytea[]) AND kind = ${REFUSE_DELIVERY} AND state = 4`,
    [NETWORK_CODE[network], payments.map(({ paymentId }) => paymentId)],
  )
}

export interface PaymentId {
  chain: number
  paymentId: Buffer
  /** Else it was made on a Solana cluster, and is given back by a payout. */
  isEvm: boolean
}

async function insertRefusals(
  client: pg.ClientBase,
  network: Network,
  payments: readonly PaymentId[],
  nowMs: number,
): Promise<void> {
  const rows = payments
    .filter(({ isEvm }) => isEvm)
    .map(({ chain, paymentId: guid }) => ({ guid, kind: 'refuse' as const, chain, valueWei: 0n }))
  if (rows.length > 0) await insertDeliveries(client, network, rows, nowMs)
  const payouts = payments.filter(({ isEvm }) => !isEvm).map(({ paymentId }) => paymentId)
  if (payouts.length === 0) return
  await client.query(
    `INSERT INTO payouts (network, message_id, kind, state, failures, next_ms, created_ms, updated_ms, version)
     SELECT $1, id, ${REFUSE}, ${payoutStateCode('queued')}, 0, 0, $3, $3, 0 FROM unnest($2::bytea[]) AS id
     ON CONFLICT (network, message_id) DO NOTHING`,
    [NETWORK_CODE[network], payouts, nowMs],
  )
}

/** Places in the journal of payments that were given back, or are being so: `chain/block/log index`. */
export async function placesOfRefused(client: pg.ClientBase, network: Network): Promise<Set<string>> {
  const { rows } = await client.query<{ chain: number; block: number; log_index: number }>(
    `SELECT p.chain, p.block, p.log_index FROM community_payments p WHERE p.network = $1 AND p.appended AND ${REFUSAL_HAS_LEFT}`,
    [NETWORK_CODE[network]],
  )
  return new Set(rows.map((row) => `${row.chain}/${row.block}/${row.log_index}`))
}

/** An entry as a new generation has it: a payment that was given back buys nothing there, whatever has changed. */
export function asRefused(entry: Entry, refused: ReadonlySet<string>): Entry {
  const { kind, position } = entry
  if (kind !== 'pay_community_name' || !position) return entry
  if (!refused.has(`${position.chain}/${position.block}/${position.logIndex}`)) return entry
  return { ...entry, body: encodePayment({ ...decodePayment(entry.body), met: null }) }
}

/**
 * After a rewind: what was queued and has not left is queued anew by what the journal says now. In the transaction of the switch,
 * behind the head's lock, which no relayer passes.
 * @param generation the new one
 */
export async function queueRefusalsAgain(
  client: pg.ClientBase,
  network: Network,
  generation: number,
  nowMs: number,
): Promise<void> {
  const code = NETWORK_CODE[network]
  await client.query(
    `DELETE FROM deliveries WHERE network = $1 AND kind = ${REFUSE_DELIVERY} AND state IN (0, 5) AND nonce IS NULL AND release IS NULL`,
    [code],
  )
  await client.query(`DELETE FROM payouts WHERE network = $1 AND kind = ${REFUSE} AND state IN (${UNSENT})`, [code])
  const { rows } = await client.query<{ chain: number; payment_id: Buffer; is_evm: boolean }>(
    `SELECT p.chain, p.payment_id, c.chain_id IS NOT NULL AS is_evm FROM community_payments p
     JOIN chains c ON c.network = p.network AND c.chain = p.chain
     JOIN public.${leaf('journal', network)} j ON j.network = $1 AND j.generation = $2 AND j.chain = p.chain
       AND j.block = p.block AND j.log_index = p.log_index AND j.kind = ${ENTRY_KIND.pay_community_name}
     WHERE p.network = $1 AND p.appended AND get_byte(j.effects, 0) <> ${OUTCOME.won} ORDER BY j.seq`,
    [code, generation],
  )
  await insertRefusals(
    client,
    network,
    rows.map((row) => ({ chain: row.chain, paymentId: row.payment_id, isEvm: row.is_evm })),
    nowMs,
  )
}
