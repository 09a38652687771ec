import type pg from 'pg'
import { JOB_KIND, JOB_STATE, PARKED_BELOW_REFUSAL_COST } from '../../registry/outbox.js'
import { PAYMENT_KIND, PAYMENT_STATE } from '../../registry/payment/payment.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import { ChainMismatchError, type ChainRow } from '../chains/chains.js'
import { prepareSingleValue } from '../journal/partitions.js'
import { codeListSql } from '../pg/codes.js'
import { type Queryable, query } from '../pg/rows.js'

/**
 * SQL: true while a payment to a chain's contract waits for a decision, or a decision waits for its transaction. A
 * payment that bought its name counts from the start, though its release is queued only days later. Parked jobs do not
 * count: they are left to the payer or an operator.
 */
const HAS_OPEN_PAYMENTS_SQL = `EXISTS (SELECT FROM payments p WHERE p.network = $1 AND p.chain = $2
    AND p.kind = ${PAYMENT_KIND.communityName} AND (p.state < ${PAYMENT_STATE.done} OR p.outcome IS NULL AND NOT EXISTS (
      SELECT FROM jobs j WHERE j.network = p.network AND j.subject = p.id AND j.kind IN (${codeListSql(JOB_KIND, 'refuse', 'release')})
        AND j.state >= ${JOB_STATE.confirmed})))
  OR EXISTS (SELECT FROM jobs j WHERE j.network = $1 AND j.chain = $2 AND j.state < ${JOB_STATE.confirmed}
    AND j.kind IN (${codeListSql(JOB_KIND, 'refuse', 'release')}))`

const readStoredContract = prepareSingleValue<Buffer>(
  'SELECT community_payments FROM chains WHERE network = $1 AND chain = $2',
)

/**
 * Stores which contract takes a chain's payments for community names. The contract can change only while no payment is
 * open at the previous one: a new contract does not know earlier payments, so their refusals could never be executed.
 * The previous contract stays stored, since payers withdraw credits from that contract. Refusals that are parked
 * because they cost more than the payment are left to the payers (`IS_LEFT_TO_PAYER_SQL`).
 * @param contract null for a chain that takes no such payments any more
 * @throws ChainMismatchError while a payment is open at another contract
 */
export async function storePaymentsContract(
  pool: pg.Pool,
  { network, chain, label }: Pick<ChainRow, 'network' | 'chain' | 'label'>,
  contract: Buffer | null,
): Promise<void> {
  const read = () => readStoredContract(pool, network, chain)
  const isKept = (known: Buffer | null) =>
    known === contract || (known !== null && contract?.equals(known) === true)
  const before = await read()
  if (isKept(before)) return
  const change = `WITH changed AS (
      UPDATE chains SET community_payments = $3,
        former_payments = array_remove(array_remove(array_append(former_payments, $4::bytea), $3::bytea), NULL)
      WHERE network = $1 AND chain = $2 AND community_payments IS NOT DISTINCT FROM $4 AND NOT (${HAS_OPEN_PAYMENTS_SQL}) RETURNING chain
    ), dust AS (
      UPDATE jobs j SET alone = true, version = version + 1 FROM changed c
      WHERE j.network = $1 AND j.chain = c.chain AND j.state = ${JOB_STATE.parked} AND j.reason = '${PARKED_BELOW_REFUSAL_COST}'
    ) SELECT chain FROM changed`
  if ((await query(pool, network, change, [chain, contract, before])).length === 1) return
  const known = await read()
  // a process that started at the same time has stored the same contract
  if (isKept(known)) return
  throw new ChainMismatchError(
    `Payments for community names wait at contract ${known ? toHex(known) : 'none'} of chain "${label}": set communityPayments back to it until all are refused or released (\`clusterd outbox list\`; those that bought their names after payments.releaseAfterMs).`,
  )
}

/** Earlier payments contracts by chain number. A chain without any is missing. */
export async function readFormerPaymentsContracts(
  db: Queryable,
  network: Network,
): Promise<Map<number, `0x${string}`[]>> {
  const text =
    "SELECT chain, former_payments AS former FROM chains WHERE network = $1 AND former_payments <> '{}'"
  const rows = await query<{ chain: number; former: Buffer[] }>(db, network, text)
  return new Map(rows.map(({ chain, former }) => [chain, former.map(toHex)]))
}
