import { BELOW_REFUSAL_COST, JOB_KIND, JOB_STATE } from '../../registry/outbox.js'
import { PAYMENT_OUTCOME } from '../../registry/payment/payment.js'
import { codeList } from '../pg/codes.js'

/** Condition on a job `j`: nothing was signed, and nothing is done. */
export const IS_UNSENT = `j.state IN (${codeList(JOB_STATE, 'queued', 'parked')}) AND j.nonce IS NULL`

/**
 * Condition on a job `j`: left to its payer at a contract that another has replaced. Nobody sends to that contract any
 * more.
 */
export const IS_LEFT_TO_PAYER = `(j.alone AND j.state = ${JOB_STATE.parked} AND j.reason = '${BELOW_REFUSAL_COST}')`

/**
 * Condition on a payment `p`: its money belongs to the payer again, or is left to the payer for good, or its refusal
 * was sent.
 */
export const BELONGS_TO_PAYER = `(p.outcome IN (${codeList(PAYMENT_OUTCOME, 'refused', 'reclaimed')})
  OR EXISTS (SELECT FROM jobs j WHERE j.network = p.network AND j.subject = p.id AND j.kind = ${JOB_KIND.refuse}
    AND (NOT (${IS_UNSENT}) OR ${IS_LEFT_TO_PAYER})))`
