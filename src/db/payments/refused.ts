import { JOB_KIND, JOB_STATE, PARKED_BELOW_REFUSAL_COST } from '../../registry/outbox.js'
import { PAYMENT_OUTCOME } from '../../registry/payment/payment.js'
import { codeListSql } from '../pg/codes.js'

/** SQL condition on a queued or parked job `j` without a nonce: none of its transactions can be mined any more. */
export const IS_JOB_UNSENT_SQL = `j.state IN (${codeListSql(JOB_STATE, 'queued', 'parked')}) AND j.nonce IS NULL`

/**
 * SQL condition on a job `j`: its payment stays at a payments contract that was replaced. The relayer no longer sends
 * to that contract, so the payer has to reclaim.
 */
export const IS_LEFT_TO_PAYER_SQL = `(j.alone AND j.state = ${JOB_STATE.parked} AND j.reason = '${PARKED_BELOW_REFUSAL_COST}')`

/**
 * SQL condition on a payment `p` whose money goes back to the payer: it was refused or reclaimed, its refusal was sent,
 * or its payer has to reclaim.
 */
export const BELONGS_TO_PAYER_SQL = `(p.outcome IN (${codeListSql(PAYMENT_OUTCOME, 'refused', 'reclaimed')})
  OR EXISTS (SELECT FROM jobs j WHERE j.network = p.network AND j.subject = p.id AND j.kind = ${JOB_KIND.refuse}
    AND (NOT (${IS_JOB_UNSENT_SQL}) OR ${IS_LEFT_TO_PAYER_SQL})))`
