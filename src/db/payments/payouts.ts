import { JOB_KIND } from '../../registry/outbox.js'
import {
  type CommunityNameTarget,
  PAYMENT_KIND,
  PAYMENT_STATE,
  type StoredPayment,
} from '../../registry/payment/payment.js'
import type { Network } from '../../registry/primitives/network.js'
import { type Queryable, query } from '../pg/rows.js'
import { PAYMENT_COLUMNS, type PaymentRow, paymentOf } from './rows.js'

/** Payments of one answer. */
const LIMIT = 500

/** Payments on EVM chains that bought names of a community and are held, oldest first, with their chain's label. */
export async function findPayouts(
  db: Queryable,
  network: Network,
  community: string,
): Promise<(StoredPayment<CommunityNameTarget> & { label: string })[]> {
  const rows = await query<PaymentRow & { label: string }>(
    db,
    network,
    `SELECT ${PAYMENT_COLUMNS}, c.label FROM payments p JOIN chains c ON c.network = p.network AND c.chain = p.chain
     WHERE p.network = $1 AND p.community = $2 AND c.chain_id IS NOT NULL
       AND p.kind = ${PAYMENT_KIND.communityName} AND p.state = ${PAYMENT_STATE.done} AND p.outcome IS NULL
       AND NOT EXISTS (SELECT FROM jobs j WHERE j.network = p.network AND j.subject = p.id AND j.kind = ${JOB_KIND.refuse})
     ORDER BY p.paid_ms, p.chain, p.sequence LIMIT ${LIMIT}`,
    [community],
  )
  return rows.map((row) => ({ ...(paymentOf(row) as StoredPayment<CommunityNameTarget>), label: row.label }))
}
