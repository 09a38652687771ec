import type pg from 'pg'
import { OUTCOME } from '../../registry/journal/bid.js'
import { PAYMENT_VERDICT } from '../../registry/payment/quote.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { assertRelayer } from '../journal/head.js'
import { notify } from '../pg/notify.js'
import { inTransaction } from '../pg/pool.js'
import { REFUSAL_REST_MS } from './deliveryRows.js'
import {
  type MoneyRow,
  type PayoutFields,
  type PayoutRow,
  type PayoutTx,
  payoutKindCode,
  payoutStateCode,
  type RefusalRow,
  selectPayoutRefusals,
  selectPayouts,
} from './payoutRows.js'

/**
 * The open payments of a network (parameter 1) as `due`, with what becomes of their money: `kind` 1 where the hub's confirmed
 * outcome is that the name was won, 2 where it is another one or the payment keeps to no quote of ours, null where that isn't
 * known yet. The bid of a payment is the last one of its transaction before the hub's `Received`.
 */
export const DUE = `due AS (
  SELECT p.*, CASE
      WHEN p.verdict = ${PAYMENT_VERDICT.foreign} THEN 2
      WHEN p.verdict = ${PAYMENT_VERDICT.honoured} AND o.outcome = ${OUTCOME.won} THEN 1
      WHEN p.verdict = ${PAYMENT_VERDICT.honoured} AND o.outcome IS NOT NULL THEN 2
    END AS kind
  FROM payments p
  LEFT JOIN LATERAL (
    SELECT n.outcome FROM received r
    JOIN journal_heads h ON h.network = r.network
    JOIN names n ON n.network = r.network AND n.tx_key = ('x' || encode(substr(r.tx_hash, 1, 8), 'hex'))::bit(64)::int8
    JOIN journal j ON j.network = n.network AND j.generation = h.generation AND j.seq = n.seq
    WHERE r.network = p.network AND r.guid = p.message_id AND r.confirmed
      AND j.block = r.block AND j.log_index < r.log_index AND substr(j.body, 1, 32) = r.tx_hash
    ORDER BY j.log_index DESC LIMIT 1
  ) o ON true
  WHERE p.network = $1 AND p.confirmed AND NOT p.settled)`

/**
 * Queues what is due for the payments of a program, once: settlements, and refunds where they are paid by themselves. What is
 * queued and isn't due any more (an operator rewound the hub) is taken back.
 * @returns how many are new
 */
export async function queuePayouts(
  client: pg.ClientBase,
  network: Network,
  { chain, refunds, nowMs }: { chain: number; refunds: boolean; nowMs: number },
): Promise<number> {
  const code = NETWORK_CODE[network]
  await client.query(
    `WITH ${DUE} DELETE FROM payouts o USING due d
     WHERE o.network = $1 AND o.state = 0 AND d.message_id = o.message_id AND d.kind IS DISTINCT FROM o.kind`,
    [code],
  )
  const { rowCount } = await client.query(
    `WITH ${DUE} INSERT INTO payouts (network, message_id, kind, state, failures, next_ms, created_ms, updated_ms, version)
     SELECT network, message_id, kind, 0, 0, 0, $2, $2, 0 FROM due
     WHERE chain = $3 AND (kind = 1 OR kind = 2 AND $4)
     ON CONFLICT (network, message_id) DO NOTHING`,
    [code, nowMs, chain, refunds],
  )
  return rowCount ?? 0
}

/** The payouts of a program's payments for names on the hub that have not ended, in the order of the payments. */
export const livePayouts = (
  client: pg.ClientBase | pg.Pool,
  network: Network,
  chain: number,
  nowMs: number,
): Promise<MoneyRow[]> =>
  selectPayouts(
    client,
    'WHERE o.network = $1 AND o.state < 3 AND p.chain = $2 AND (o.state > 0 OR o.next_ms <= $3) ORDER BY p.sequence',
    [NETWORK_CODE[network], chain, nowMs],
  )

/** Refusals that are looked after at once: a stranger may make many, and what is on its way comes first. */
const REFUSALS_AT_ONCE = 200

/** The refusals of a program's payments for names of communities that have not ended: those on their way, then by the end of their hold. */
export const liveRefusals = (
  client: pg.ClientBase | pg.Pool,
  network: Network,
  chain: number,
  nowMs: number,
): Promise<RefusalRow[]> =>
  selectPayoutRefusals(
    client,
    `WHERE o.network = $1 AND o.state < 3 AND o.kind = ${payoutKindCode('refuse')} AND p.chain = $2
       AND (o.state > 0 OR o.next_ms <= $3 OR o.updated_ms + ${REFUSAL_REST_MS} <= $3)
     ORDER BY o.state = 0, p.held_until_ms, p.log_index LIMIT ${REFUSALS_AT_ONCE}`,
    [NETWORK_CODE[network], chain, nowMs],
  )

class Outrun extends Error {}

/**
 * Stores what a step made of payouts, all of them if nobody has changed any since they were read, else none. A confirmed one
 * settles its payment.
 * @returns false when one is another by now
 * @throws LostLeadershipError
 */
export async function savePayouts(
  pool: pg.Pool,
  network: Network,
  changes: readonly { row: PayoutRow; fields: PayoutFields }[],
  by: { epoch: number; nowMs: number },
): Promise<boolean> {
  try {
    await inTransaction(pool, async (client) => {
      await assertRelayer(client, network, by.epoch)
      const ids = changes.map(({ row }) => row.payment.messageId)
      const { rowCount } = await client.query(
        `UPDATE payouts o SET state = u.state, signature = u.signature, raw = u.raw, last_valid_height = u.height,
           failures = u.failures, next_ms = u.next_ms, reason = u.reason, updated_ms = $2, version = o.version + 1
         FROM unnest($3::bytea[], $4::int4[], $5::int2[], $6::bytea[], $7::bytea[], $8::int8[], $9::int4[], $10::int8[], $11::text[])
           AS u(message_id, version, state, signature, raw, height, failures, next_ms, reason)
         WHERE o.network = $1 AND o.message_id = u.message_id AND o.version = u.version`,
        [NETWORK_CODE[network], by.nowMs, ids, ...columnsOf(changes)],
      )
      if (rowCount !== changes.length) throw new Outrun()
      const confirmed = changes.filter(({ fields }) => fields.state === 'confirmed')
      if (confirmed.length > 0) await settle(client, network, confirmed)
    })
    return true
  } catch (error) {
    if (error instanceof Outrun) return false
    throw error
  }
}

const settle = (client: pg.ClientBase, network: Network, changes: readonly { row: PayoutRow }[]): Promise<unknown> =>
  client.query('UPDATE payments SET settled = true WHERE network = $1 AND message_id = ANY($2)', [
    NETWORK_CODE[network],
    changes.map(({ row }) => row.payment.messageId),
  ])

function columnsOf(changes: readonly { row: PayoutRow; fields: PayoutFields }[]): unknown[] {
  const of = <T>(read: (fields: PayoutFields) => T): T[] => changes.map(({ fields }) => read(fields))
  const tx = <T>(read: (tx: PayoutTx) => T): (T | null)[] => of((fields) => fields.tx && read(fields.tx))
  return [
    changes.map(({ row }) => row.version),
    of(({ state }) => payoutStateCode(state)),
    tx(({ signature }) => signature),
    tx(({ raw }) => raw),
    tx(({ lastValidHeight }) => lastValidHeight),
    of(({ failures }) => failures),
    of(({ nextMs }) => nextMs),
    of(({ reason }) => reason),
  ]
}

/**
 * The operator's hand: queues refunds that are owed, and takes up those that are parked or wait for another attempt.
 * @param ids message ids; null for all that are owed
 * @returns the message ids of those that the relayer has to look after now
 */
export async function sendRefunds(
  pool: pg.Pool,
  network: Network,
  ids: readonly Buffer[] | null,
  nowMs: number,
): Promise<Buffer[]> {
  const { rows } = await pool.query<{ message_id: Buffer }>(
    `WITH ${DUE} INSERT INTO payouts AS o (network, message_id, kind, state, failures, next_ms, created_ms, updated_ms, version)
     SELECT network, message_id, kind, 0, 0, 0, $2, $2, 0 FROM due
     WHERE kind = ${payoutKindCode('refund')} AND ($3::bytea[] IS NULL OR message_id = ANY($3))
     ON CONFLICT (network, message_id) DO UPDATE SET
       state = 0, failures = 0, next_ms = 0, reason = NULL, updated_ms = $2, version = o.version + 1
     WHERE o.kind = excluded.kind AND o.state IN (0, 4)
     RETURNING message_id`,
    [NETWORK_CODE[network], nowMs, ids],
  )
  await notify(pool, network)
  return rows.map((row) => row.message_id)
}
