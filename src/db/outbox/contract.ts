import type pg from 'pg'
import { JOB_KIND, JOB_STATE } from '../../registry/outbox.js'
import { PAYMENT_KIND, PAYMENT_STATE } from '../../registry/payment/payment.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { ChainMismatchError, type ChainRow } from '../journal/chains.js'
import { codeList } from '../pg/codes.js'
import { execute, query } from '../pg/rows.js'

/**
 * True while a payment to the contract of a chain waits for its decision, or a decision for its transaction: one that
 * bought its name is held for days before its release is queued. What is parked is left to its payer, or an operator.
 */
const IS_OPEN = `EXISTS (SELECT FROM payments p WHERE p.network = $1 AND p.chain = $2
    AND p.kind = ${PAYMENT_KIND.communityName} AND (p.state < ${PAYMENT_STATE.done} OR p.outcome IS NULL AND NOT EXISTS (
      SELECT FROM jobs j WHERE j.network = p.network AND j.subject = p.id AND j.kind IN (${codeList(JOB_KIND, 'refuse', 'release')})
        AND j.state >= ${JOB_STATE.confirmed})))
  OR EXISTS (SELECT FROM jobs j WHERE j.network = $1 AND j.chain = $2 AND j.state < ${JOB_STATE.confirmed}
    AND j.kind IN (${codeList(JOB_KIND, 'refuse', 'release')}))`

/**
 * Keeps the contract that takes a chain's payments for community names. It changes only while nothing is open at the
 * one before: another contract knows nothing of its payments, whose refusals would never be done.
 * @throws ChainMismatchError
 */
export async function keepPaymentsContract(
  pool: pg.Pool,
  { network, chain, label }: Pick<ChainRow, 'network' | 'chain' | 'label'>,
  contract: Buffer | null,
): Promise<void> {
  const read = async (): Promise<Buffer | null> => {
    const text = 'SELECT community_payments AS known FROM chains WHERE network = $1 AND chain = $2'
    return (await query<{ known: Buffer | null }>(pool, network, text, [chain]))[0]?.known ?? null
  }
  const isKept = (known: Buffer | null) => known === contract || (known !== null && contract?.equals(known) === true)
  const before = await read()
  if (isKept(before)) return
  const change = `UPDATE chains SET community_payments = $3 WHERE network = $1 AND chain = $2
    AND community_payments IS NOT DISTINCT FROM $4 AND NOT (${IS_OPEN})`
  if ((await execute(pool, network, change, [chain, contract, before])) === 1) return
  const known = await read()
  // a process that starts beside this one was first
  if (isKept(known)) return
  throw new ChainMismatchError(
    `Payments for community names wait at contract ${known ? toHex(known) : 'none'} of chain "${label}": set communityPayments back to it until all are refused or released (\`clusterd outbox list\`; those that bought their names after payments.releaseAfterMs).`,
  )
}
