import {
  type CommunityNameTarget,
  type NameTarget,
  PAYMENT_KIND,
  PAYMENT_OUTCOME,
  PAYMENT_STATE,
  QUOTE_VERDICT,
  type StoredPayment,
} from '../../registry/payment/payment.js'
import { wordOf } from '../pg/codes.js'

/** Columns of `payments` that make a StoredPayment, for a table named `p`. */
export const PAYMENT_COLUMNS = `p.id, p.kind, p.chain, p.state, p.tx, p.block, p.block_hash, p.sequence, p.payer, p.token, p.amount, p.name_word,
  p.referral, p.paid_ms, p.source, p.quote_id, p.amount_wei, p.expires_at, p.verdict, p.community_word, p.recipient,
  p.number, p.reclaimable_ms, p.outcome`

interface SharedColumns extends Omit<StoredPayment, 'state' | 'outcome' | 'money' | 'target'> {
  state: number
  outcome: number | null
  token: string
  amount: bigint
  nameWord: Buffer
}

/** A row of those columns: those of the other kind are null. */
export type PaymentRow = SharedColumns &
  (
    | {
        kind: 1
        source: Buffer
        quoteId: Buffer
        amountWei: bigint
        expiresAt: number
        verdict: number
        reclaimableMs: number
      }
    | ({ kind: 2; communityWord: Buffer; recipient: string } & Pick<CommunityNameTarget, 'number' | 'reclaimableMs'>)
  )

export function paymentOf(row: PaymentRow): StoredPayment {
  const { id, chain, tx, block, blockHash, sequence, payer, token, amount, referral, paidMs } = row
  return {
    ...{ id, chain, tx, block, blockHash, sequence, payer, referral, paidMs },
    state: wordOf(PAYMENT_STATE, row.state),
    outcome: row.outcome === null ? null : wordOf(PAYMENT_OUTCOME, row.outcome),
    money: { token, amount },
    target: targetOf(row),
  }
}

function targetOf(row: PaymentRow): NameTarget | CommunityNameTarget {
  if (row.kind === PAYMENT_KIND.name) {
    const { nameWord: name, source, quoteId, amountWei, expiresAt, verdict, reclaimableMs } = row
    const quoted = { source, quoteId, amountWei, expiresAt, verdict: wordOf(QUOTE_VERDICT, verdict) }
    return { kind: 'name', name, ...quoted, reclaimableMs }
  }
  const { communityWord: community, nameWord: name, recipient, number, reclaimableMs } = row
  return { kind: 'communityName', community, name, recipient, number, reclaimableMs }
}
