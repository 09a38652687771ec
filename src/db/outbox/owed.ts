import { JOB_KIND } from '../../registry/outbox.js'
import {
  PAYMENT_KIND,
  PAYMENT_OUTCOME,
  PAYMENT_STATE,
  type StoredPayment,
} from '../../registry/payment/payment.js'
import type { Network } from '../../registry/primitives/network.js'
import { IS_EVM_CHAIN_SQL } from '../chains/chains.js'
import { PAYMENT_COLUMNS, type PaymentRow, paymentFromRow } from '../payments/rows.js'
import { type Queryable, query } from '../pg/rows.js'
import { DUE_PAYOUTS_SQL } from './payouts.js'

/** Maximum number of payments of each kind, and of tokens, in one response. */
export const MAX_OWED_ITEMS_PER_RESPONSE = 100

/** A held payment whose payer may get the money back, or a payment that was refused. `label`: that of its chain. */
export interface OwedPayment {
  label: string
  payment: StoredPayment
}

const JOIN_CHAIN_SQL = 'JOIN chains c ON c.network = p.network AND c.chain = p.chain'
/**
 * SQL condition on a payment `p` for a community name: the payment is not decided yet, or has a job for its refusal.
 */
const MAY_BE_REFUSED_SQL = `(p.state = ${PAYMENT_STATE.confirmed}
  OR EXISTS (SELECT FROM jobs j WHERE j.network = p.network AND j.subject = p.id AND j.kind = ${JOB_KIND.refuse}))`

/** A payer's held payments for names on the hub, except payments that won their name and can't be reclaimed yet. */
const HELD_NAME_PAYMENTS = `WITH ${DUE_PAYOUTS_SQL} SELECT ${PAYMENT_COLUMNS}, c.label FROM due p ${JOIN_CHAIN_SQL}
  WHERE p.payer = $2 AND p.outcome IS NULL
    AND (p.payout IS DISTINCT FROM ${JOB_KIND.settle} OR p.reclaimable_ms <= $4)
  ORDER BY p.reclaimable_ms, p.block, p.sequence LIMIT $3`

/**
 * A payer's held payments for community names that can be reclaimed, are undecided, or have a job for their refusal.
 */
const HELD_COMMUNITY_NAME_PAYMENTS = `SELECT ${PAYMENT_COLUMNS}, c.label FROM payments p ${JOIN_CHAIN_SQL}
  WHERE p.network = $1 AND p.payer = $2 AND p.outcome IS NULL AND p.kind = ${PAYMENT_KIND.communityName}
    AND p.state >= ${PAYMENT_STATE.confirmed} AND (p.reclaimable_ms <= $4 OR ${MAY_BE_REFUSED_SQL})
  ORDER BY p.reclaimable_ms, p.block, p.sequence LIMIT $3`

/** A payer's payments that a Solana program refused. Their accounts keep the money if the payer could not be paid. */
const PAYMENTS_REFUSED_AT_PROGRAM = `SELECT ${PAYMENT_COLUMNS}, c.label FROM payments p ${JOIN_CHAIN_SQL} AND NOT ${IS_EVM_CHAIN_SQL}
  WHERE p.network = $1 AND p.payer = $2 AND p.outcome = ${PAYMENT_OUTCOME.refused}
    AND p.kind = ${PAYMENT_KIND.communityName}
  ORDER BY p.reclaimable_ms DESC, p.id LIMIT $3`

/**
 * Payments whose money the payer has back, or may get back soon, at most `MAX_OWED_ITEMS_PER_RESPONSE` of each kind:
 * held payments, ordered by the time from which they can be reclaimed, and the newest payments that a Solana program
 * refused.
 * @param payer stored address
 */
export async function findPaymentsOwedToPayer(
  db: Queryable,
  network: Network,
  payer: Buffer,
  nowMs: number,
): Promise<{ found: OwedPayment[]; isTruncated: boolean }> {
  const read = (text: string, ...more: number[]) =>
    query<PaymentRow & { label: string }>(db, network, text, [
      payer,
      MAX_OWED_ITEMS_PER_RESPONSE + 1,
      ...more,
    ])
  const kinds = await Promise.all([
    read(HELD_NAME_PAYMENTS, nowMs),
    read(HELD_COMMUNITY_NAME_PAYMENTS, nowMs),
    read(PAYMENTS_REFUSED_AT_PROGRAM),
  ])
  return {
    found: kinds.flatMap((rows) =>
      rows
        .slice(0, MAX_OWED_ITEMS_PER_RESPONSE)
        .map((row) => ({ label: row.label, payment: paymentFromRow(row) })),
    ),
    isTruncated: kinds.some((rows) => rows.length > MAX_OWED_ITEMS_PER_RESPONSE),
  }
}

/** A token in which a payer paid on a chain. `token` is `native` or the token's address, as responses show it. */
export interface PaidToken {
  chain: number
  label: string
  token: string
}

const PAYMENTS_OF_PAYER_SQL = `FROM payments p WHERE p.network = $1 AND p.payer = $2 AND p.kind = ${PAYMENT_KIND.communityName}`

/** The tokens of a payer's payments. The recursion needs one index probe per token, for any number of payments. */
const PAID_TOKENS = `WITH RECURSIVE paid AS (
    (SELECT p.chain, p.token ${PAYMENTS_OF_PAYER_SQL} ORDER BY p.chain, p.token LIMIT 1)
    UNION ALL
    SELECT next.* FROM paid, LATERAL (
      SELECT p.chain, p.token ${PAYMENTS_OF_PAYER_SQL} AND (p.chain, p.token) > (paid.chain, paid.token)
      ORDER BY p.chain, p.token LIMIT 1) next)
  SELECT p.chain, c.label, p.token FROM paid p JOIN chains c ON c.network = $1 AND c.chain = p.chain AND ${IS_EVM_CHAIN_SQL}
  LIMIT $3`

/** Tokens in which a payer paid on EVM chains, by chain. @param payer stored address */
export async function findPaidTokens(
  db: Queryable,
  network: Network,
  payer: Buffer,
): Promise<{ found: PaidToken[]; isTruncated: boolean }> {
  const rows = await query<PaidToken>(db, network, PAID_TOKENS, [
    payer,
    MAX_OWED_ITEMS_PER_RESPONSE + 1,
  ])
  return {
    found: rows.slice(0, MAX_OWED_ITEMS_PER_RESPONSE),
    isTruncated: rows.length > MAX_OWED_ITEMS_PER_RESPONSE,
  }
}
