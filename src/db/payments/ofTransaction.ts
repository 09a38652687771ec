import type { CommunityPaymentDecision } from '../../registry/community/payment.js'
import { decodeCommunityEffects } from '../../registry/journal/effects.js'
import { ENTRY_KIND } from '../../registry/journal/entry.js'
import { JOB_KIND, JOB_STATE, PARKED_BELOW_REFUSAL_COST } from '../../registry/outbox.js'
import {
  PAYMENT_KIND,
  PAYMENT_OUTCOME,
  PAYMENT_STATE,
  QUOTE_VERDICT,
} from '../../registry/payment/payment.js'
import type { Network } from '../../registry/primitives/network.js'
import { MAX_STATUS_NAMES, type PaymentMoneyState } from '../../registry/status.js'
import {
  blockConfirmations,
  HUB_RECEIPT_COLUMNS,
  type HubReceiptRow,
  nestHubReceiptColumns,
} from '../bridge/receipts.js'
import { IS_EVM_CHAIN_SQL } from '../chains/chains.js'
import type { Payment } from '../generated/client.js'
import { type PartitionNames, prepareStatement } from '../journal/partitions.js'
import {
  nestUnfinishedJobColumns,
  UNFINISHED_JOB_COLUMNS,
  type UnfinishedJobRow,
  unfinishedJobSql,
} from '../outbox/unfinishedJob.js'
import { nameOfCode } from '../pg/codes.js'
import type { DecodedRow, Queryable } from '../pg/rows.js'

/** Figures over all payments of a transaction, of which not all are read. Each row has them. */
interface PaymentTotals {
  /** Number of the transaction's payments of this kind. */
  count: number
  /** Sum of the payments in this payment's token, in the token's smallest unit. */
  paid: bigint
}

/**
 * SQL: the first payments of one kind that the transaction `$1` made, with `PaymentTotals`. A contract can make
 * thousands of payments in one transaction.
 */
const firstPaymentsSql = (l: PartitionNames, kind: number): string =>
  `(SELECT *, count(*) OVER () AS count, sum(amount) OVER (PARTITION BY token) AS paid FROM payments
    WHERE network = ${l.network} AND tx = $1 AND kind = ${kind} ORDER BY block, sequence LIMIT ${MAX_STATUS_NAMES})`

type PaymentColumns = HubReceiptRow &
  UnfinishedJobRow &
  PaymentTotals &
  Pick<DecodedRow<Payment>, 'id' | 'block' | 'sequence' | 'token' | 'paidMs' | 'outcome'> & {
    /** Label of the chain on which the payment was made. */
    label: string
    /** Name as the payment gave it: a 32-byte word, perhaps malformed. */
    name: Buffer
    isConfirmed: boolean
    /** True if the payment matches no quote of ours. */
    isForeign: boolean
  }

/** A payment for a name on the hub that a transaction on another chain made, with its progress. */
export type PaymentWithProgress = Awaited<ReturnType<typeof findPaymentsOfTransaction>>[number]

const readPaymentsByTx = prepareStatement<PaymentColumns>(
  (
    l,
  ) => `SELECT p.id, c.label, p.block, p.sequence, p.token, p.paid, p.count, p.name_word AS name, p.paid_ms,
      p.state >= ${PAYMENT_STATE.confirmed} AS is_confirmed, p.verdict = ${QUOTE_VERDICT.foreign} AS is_foreign,
      p.outcome, ${HUB_RECEIPT_COLUMNS}, ${UNFINISHED_JOB_COLUMNS}
    FROM ${firstPaymentsSql(l, PAYMENT_KIND.name)} p
    JOIN chains c ON c.network = p.network AND c.chain = p.chain
    LEFT JOIN received r ON r.network = p.network AND r.guid = p.id
    ${unfinishedJobSql(l, 'p.id', 'deliver', 'refund')}
    ORDER BY p.sequence`,
)

/**
 * A transaction's first payments for names on the hub, in order, at most `MAX_STATUS_NAMES`.
 * @param signature signature of the transaction on Solana, 64 bytes
 */
export async function findPaymentsOfTransaction(
  db: Queryable,
  network: Network,
  signature: Buffer,
) {
  const rows = await readPaymentsByTx(db, network, signature)
  return rows.map(({ outcome, ...row }) => ({
    ...nestUnfinishedJobColumns(nestHubReceiptColumns(row)),
    outcome: outcome === null ? null : nameOfCode(PAYMENT_OUTCOME, outcome),
  }))
}

interface PaidNameColumns
  extends PaymentTotals,
    UnfinishedJobRow,
    Pick<DecodedRow<Payment>, 'block' | 'sequence' | 'token' | 'paidMs' | 'outcome'> {
  /** Label of the chain on which the payment was made. */
  label: string
  /** Community and name as the payment gave them: 32-byte words, perhaps malformed. */
  community: Buffer
  name: Buffer
  isConfirmed: boolean
  /** Time from which the payer may reclaim the payment, Unix ms. */
  reclaimableMs: number
  isEvm: boolean
  nextBlock: number
  latest: number | null
  effects: Buffer | null
  jobState: number | null
}

const readPaidNamesByTx = prepareStatement<PaidNameColumns>(
  (
    l,
  ) => `SELECT c.label, p.sequence, p.block, p.token, p.paid, p.count, p.community_word AS community, p.name_word AS name, p.paid_ms,
      p.state >= ${PAYMENT_STATE.confirmed} AS is_confirmed, ${IS_EVM_CHAIN_SQL} AS is_evm, c.next_block,
      (SELECT max(t.block) FROM tail_blocks t WHERE t.network = ${l.network} AND t.chain = p.chain) AS latest,
      p.reclaimable_ms, p.outcome, e.effects, j.state AS job_state, ${UNFINISHED_JOB_COLUMNS}
    FROM ${firstPaymentsSql(l, PAYMENT_KIND.communityName)} p
    JOIN chains c ON c.network = p.network AND c.chain = p.chain
    LEFT JOIN LATERAL (
      SELECT e.effects FROM journal_heads h JOIN ${l.journal} e ON e.network = ${l.network} AND e.generation = h.generation
        AND e.chain = p.chain AND e.block = p.block AND e.log_index = p.sequence AND e.kind = ${ENTRY_KIND.pay_community_name}
      WHERE h.network = ${l.network} AND p.state = ${PAYMENT_STATE.done} LIMIT 1
    ) e ON true
    LEFT JOIN jobs j ON j.network = ${l.network} AND j.subject = p.id AND j.kind = ${JOB_KIND.refuse}
    ORDER BY p.block, p.sequence`,
)

/**
 * A transaction's first payments for community names, in order, at most `MAX_STATUS_NAMES`.
 * @returns In each row, `confirmations` is null for a payment on Solana, for which the caller asks the chain.
 * `judgement` is null until the payment is in the journal. `refund` is null for a payment that bought its name or is
 * undecided
 */
export async function findCommunityPaymentsOfTransaction(
  db: Queryable,
  network: Network,
  tx: Buffer,
) {
  const rows = await readPaidNamesByTx(db, network, tx)
  return rows.map(({ isEvm, nextBlock, effects, jobState, ...columns }) => {
    const row = nestUnfinishedJobColumns(columns)
    const outcome = row.outcome === null ? null : nameOfCode(PAYMENT_OUTCOME, row.outcome)
    const judgement = effects && judgementOf(effects)
    const isOwed = judgement !== null && judgement.outcome !== 'registered'
    return {
      ...row,
      confirmations: isEvm
        ? blockConfirmations(row.block, { latest: row.latest, nextBlock })
        : null,
      judgement,
      outcome,
      refund: isOwed ? (outcome ?? refundOf(jobState, columns.jobReason, isEvm)) : null,
    }
  })
}

function judgementOf(effects: Buffer): CommunityPaymentDecision {
  const decoded = decodeCommunityEffects(effects)
  return decoded.outcome === 'registered' ? { outcome: 'registered' } : decoded
}

/**
 * State of a payment's refund by the state and reason of its job, while the database does not have the payment's
 * outcome. At a Solana program, a confirmed job has refused the payment.
 */
function refundOf(state: number | null, reason: string | null, isEvm: boolean): PaymentMoneyState {
  if (state === JOB_STATE.confirmed && !isEvm) return 'refused'
  return state === JOB_STATE.parked && reason === PARKED_BELOW_REFUSAL_COST ? 'reclaim' : 'held'
}
