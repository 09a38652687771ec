import { JOB_KIND, JOB_STATE, PARKED_BELOW_REFUSAL_COST } from '../../registry/outbox.js'
import { PAYMENT_OUTCOME } from '../../registry/payment/payment.js'
import { codeListSql } from '../pg/codes.js'

/** SQL condition on a job `j` of which no transaction can be mined: it is queued or parked, and holds no nonce. */
export const IS_JOB_UNSENT_SQL = `j.state IN (${codeListSql(JOB_STATE, 'queued', 'parked')}) AND j.nonce IS NULL`

/**
 * SQL condition on a parked refusal `j` at a payments contract that was replaced. The relayer no longer sends to that
 * contract, so the payer has to reclaim the payment. `storePaymentsContract` marks such jobs.
 */
export const IS_LEFT_TO_PAYER_SQL = `(j.alone AND j.state = ${JOB_STATE.parked} AND j.reason = '${PARKED_BELOW_REFUSAL_COST}')`

/**
 * SQL condition on a payment `p` whose money goes back to the payer: the payment was refused or reclaimed, a refusal
 * may have been sent, or the payer has to reclaim it.
 */
export const BELONGS_TO_PAYER_SQL = `(p.outcome IN (${codeListSql(PAYMENT_OUTCOME, 'refused', 'reclaimed')})
  OR EXISTS (SELECT FROM jobs j WHERE j.network = p.network AND j.subject = p.id AND j.kind = ${JOB_KIND.refuse}
    AND (NOT (${IS_JOB_UNSENT_SQL}) OR ${IS_LEFT_TO_PAYER_SQL})))`
