import type pg from 'pg'
import { JOB_KIND } from '../../registry/outbox.js'
import {
  type CommunityNameTarget,
  PAYMENT_KIND,
  PAYMENT_STATE,
  QUOTE_VERDICT,
  type StoredPayment,
} from '../../registry/payment/payment.js'
import type { Network } from '../../registry/primitives/network.js'
import { IS_EVM_CHAIN_SQL } from '../chains/chains.js'
import { type ChainRowKey, execute, prepared, type Queryable, query } from '../pg/rows.js'
import { BELONGS_TO_PAYER_SQL } from './refused.js'
import { PAYMENT_COLUMNS, type PaymentRow, paymentFromRow } from './rows.js'

/** Maximum number of deliveries that one statement queues. */
const MAX_DELIVERIES_PER_STATEMENT = 500

/**
 * Queues deliveries of payments to the hub (`chain`), oldest payment first, at most `MAX_DELIVERIES_PER_STATEMENT`. A
 * payment is delivered if it is confirmed, matches a quote of ours, and no confirmed block of the hub has received it.
 * @returns how many deliveries it queued
 */
export const queuePaymentDeliveries = (
  client: pg.ClientBase,
  { network, chain }: ChainRowKey,
  nowMs: number,
): Promise<number> =>
  execute(
    client,
    network,
    `INSERT INTO jobs (network, kind, chain, subject, created_ms, updated_ms)
     SELECT p.network, ${JOB_KIND.deliver}, $2, p.id, $3::int8, $3::int8 FROM payments p
     WHERE p.network = $1 AND p.kind = ${PAYMENT_KIND.name} AND p.state = ${PAYMENT_STATE.confirmed}
       AND p.verdict = ${QUOTE_VERDICT.honoured}
       AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.network = p.network AND j.subject = p.id AND j.kind = ${JOB_KIND.deliver})
       AND NOT EXISTS (SELECT 1 FROM received r WHERE r.network = p.network AND r.guid = p.id AND r.confirmed)
     ORDER BY p.paid_ms, p.chain, p.sequence LIMIT ${MAX_DELIVERIES_PER_STATEMENT}
     ON CONFLICT DO NOTHING`,
    [chain, nowMs],
  )

/** A confirmed payment for a community name that is not in the journal yet. */
export interface OpenCommunityPayment extends StoredPayment<CommunityNameTarget> {
  label: string
  /** Canonical name of the community. Null where the payment's bytes32 is not a valid name. */
  communityName: string | null
  /**
   * True if the payer has the money back, or may get it back soon. Such a payment buys nothing, in any generation of
   * the journal.
   */
  belongsToPayer: boolean
}

/** Fraction of a payment's holding time after which the payment no longer buys its name. */
const BUYING_TIME_SHARE = 0.9

const OPEN_COMMUNITY_PAYMENTS = `SELECT ${PAYMENT_COLUMNS}, p.community, c.label,
    ${BELONGS_TO_PAYER_SQL} OR p.outcome IS NULL AND ${BUYING_TIME_SHARE} * (p.reclaimable_ms - p.paid_ms) < $4 - p.paid_ms AS belongs_to_payer
  FROM payments p JOIN chains c ON c.network = p.network AND c.chain = p.chain
  WHERE p.network = $1 AND p.kind = ${PAYMENT_KIND.communityName} AND p.state = ${PAYMENT_STATE.confirmed}
    AND p.id <> ALL ($3::bytea[])
  ORDER BY p.paid_ms, p.chain, p.block, p.sequence LIMIT $2`

/**
 * Confirmed payments for community names that are not in the journal yet, oldest first.
 * @param except ids to leave out
 */
export async function findOpenCommunityPayments(
  db: Queryable,
  network: Network,
  limit: number,
  nowMs: number,
  except: readonly Buffer[] = [],
): Promise<OpenCommunityPayment[]> {
  const rows = await query<
    PaymentRow &
      Pick<OpenCommunityPayment, 'label' | 'belongsToPayer'> & { community: string | null }
  >(db, network, prepared(OPEN_COMMUNITY_PAYMENTS), [limit, except, nowMs])
  return rows.map((row) => {
    const { label, belongsToPayer, community: communityName } = row
    return {
      ...(paymentFromRow(row) as StoredPayment<CommunityNameTarget>),
      label,
      communityName,
      belongsToPayer,
    }
  })
}

/**
 * Maximum number of payments that `findHeldCommunityPayments` reads, oldest first. `communityPayouts` leaves out newer
 * ones.
 */
const MAX_HELD_PAYMENTS = 500

/**
 * Payments for a community's names that contracts on EVM chains still hold and that have no job for their refusal,
 * oldest first, at most `MAX_HELD_PAYMENTS`. `label` is that of the chain.
 */
export async function findHeldCommunityPayments(
  db: Queryable,
  network: Network,
  community: string,
): Promise<(StoredPayment<CommunityNameTarget> & { label: string })[]> {
  const rows = await query<PaymentRow & { label: string }>(
    db,
    network,
    `SELECT ${PAYMENT_COLUMNS}, c.label FROM payments p JOIN chains c ON c.network = p.network AND c.chain = p.chain
     WHERE p.network = $1 AND p.community = $2 AND ${IS_EVM_CHAIN_SQL}
       AND p.kind = ${PAYMENT_KIND.communityName} AND p.state = ${PAYMENT_STATE.done} AND p.outcome IS NULL
       AND NOT EXISTS (SELECT FROM jobs j WHERE j.network = p.network AND j.subject = p.id AND j.kind = ${JOB_KIND.refuse})
     ORDER BY p.paid_ms, p.chain, p.sequence LIMIT ${MAX_HELD_PAYMENTS}`,
    [community],
  )
  return rows.map((row) => ({
    ...(paymentFromRow(row) as StoredPayment<CommunityNameTarget>),
    label: row.label,
  }))
}
