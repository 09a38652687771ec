import { JOB_KIND } from '../../registry/outbox.js'
import {
  PAYMENT_KIND,
  PAYMENT_OUTCOME,
  PAYMENT_STATE,
  type StoredPayment,
} from '../../registry/payment/payment.js'
import type { Network } from '../../registry/primitives/network.js'
import { PAYMENT_COLUMNS, type PaymentRow, paymentOf } from '../payments/rows.js'
import { IS_EVM } from '../pg/codes.js'
import { type Queryable, query } from '../pg/rows.js'
import { DUE } from './payouts.js'

/** Payments, and tokens, of one answer. */
export const OWED_LIMIT = 100

/** A payment whose money is or may become its payer's again, with its chain's label. */
export interface OwedPayment {
  label: string
  payment: StoredPayment
}

const CHAIN = 'JOIN chains c ON c.network = p.network AND c.chain = p.chain'
/** Condition on a payment `p` for a community name: it is not known to have bought its name. */
const BOUGHT_NOTHING = `(p.state = ${PAYMENT_STATE.confirmed}
  OR EXISTS (SELECT FROM jobs j WHERE j.network = p.network AND j.subject = p.id AND j.kind = ${JOB_KIND.refuse}))`

/** Held payments for names on the hub, but those that won their name while nobody is late. */
const HELD_NAMES = `WITH ${DUE} SELECT ${PAYMENT_COLUMNS}, c.label FROM due p ${CHAIN}
  WHERE p.payer = $2 AND p.outcome IS NULL
    AND (p.payout IS DISTINCT FROM ${JOB_KIND.settle} OR p.reclaimable_ms <= $4)
  ORDER BY p.reclaimable_ms, p.block, p.sequence LIMIT $3`

/** The same of names of communities. */
const HELD_COMMUNITY_NAMES = `SELECT ${PAYMENT_COLUMNS}, c.label FROM payments p ${CHAIN}
  WHERE p.network = $1 AND p.payer = $2 AND p.outcome IS NULL AND p.kind = ${PAYMENT_KIND.communityName}
    AND p.state >= ${PAYMENT_STATE.confirmed} AND (p.reclaimable_ms <= $4 OR ${BOUGHT_NOTHING})
  ORDER BY p.reclaimable_ms, p.block, p.sequence LIMIT $3`

/** Refused payments at a program, whose accounts wait where their payers could not be paid. */
const REFUSED_AT_PROGRAM = `SELECT ${PAYMENT_COLUMNS}, c.label FROM payments p ${CHAIN} AND NOT ${IS_EVM}
  WHERE p.network = $1 AND p.payer = $2 AND p.outcome = ${PAYMENT_OUTCOME.refused}
    AND p.kind = ${PAYMENT_KIND.communityName}
  ORDER BY p.reclaimable_ms DESC, p.id LIMIT $3`

/**
 * Payments whose money is or may become the payer's again: each kind's first ones by the time of reclaiming, of the
 * refused ones at a program the newest.
 * @param payer stored address
 */
export async function findOwedPayments(
  db: Queryable,
  network: Network,
  payer: Buffer,
  nowMs: number,
): Promise<{ found: OwedPayment[]; isTruncated: boolean }> {
  const read = (text: string, ...more: number[]) =>
    query<PaymentRow & { label: string }>(db, network, text, [payer, OWED_LIMIT + 1, ...more])
  const kinds = await Promise.all([
    read(HELD_NAMES, nowMs),
    read(HELD_COMMUNITY_NAMES, nowMs),
    read(REFUSED_AT_PROGRAM),
  ])
  return {
    found: kinds.flatMap((rows) =>
      rows.slice(0, OWED_LIMIT).map((row) => ({ label: row.label, payment: paymentOf(row) })),
    ),
    isTruncated: kinds.some((rows) => rows.length > OWED_LIMIT),
  }
}

export interface PaidToken {
  chain: number
  label: string
  token: string
}

/** A payer's payments for names of communities. */
const PAID = `FROM payments p WHERE p.network = $1 AND p.payer = $2 AND p.kind = ${PAYMENT_KIND.communityName}`

/** Step of an index per token, however many payments there are. */
const PAID_TOKENS = `WITH RECURSIVE paid AS (
    (SELECT p.chain, p.token ${PAID} ORDER BY p.chain, p.token LIMIT 1)
    UNION ALL
    SELECT next.* FROM paid, LATERAL (
      SELECT p.chain, p.token ${PAID} AND (p.chain, p.token) > (paid.chain, paid.token)
      ORDER BY p.chain, p.token LIMIT 1) next)
  SELECT p.chain, c.label, p.token FROM paid p JOIN chains c ON c.network = $1 AND c.chain = p.chain AND ${IS_EVM}
  LIMIT $3`

/** @param payer stored address; chains are EVM's */
export async function findPaidTokens(
  db: Queryable,
  network: Network,
  payer: Buffer,
): Promise<{ found: PaidToken[]; isTruncated: boolean }> {
  const rows = await query<PaidToken>(db, network, PAID_TOKENS, [payer, OWED_LIMIT + 1])
  return { found: rows.slice(0, OWED_LIMIT), isTruncated: rows.length > OWED_LIMIT }
}
