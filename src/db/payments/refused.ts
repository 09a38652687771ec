import { JOB_KIND, JOB_STATE } from '../../registry/outbox.js'
import { codeList } from '../pg/codes.js'

/** Condition on a job `j`: nothing signed is under way, and nothing was done. */
export const UNSENT = `j.state IN (${codeList(JOB_STATE, 'queued', 'parked')}) AND j.nonce IS NULL`

/** Condition on a payment `p`: its refusal was sent, or is done. */
export const REFUSAL_HAS_LEFT = `EXISTS (SELECT FROM jobs j WHERE j.network = p.network AND j.subject = p.id AND j.kind = ${JOB_KIND.refuse}
  AND NOT (${UNSENT}))`
