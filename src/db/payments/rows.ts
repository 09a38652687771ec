import {
  type CommunityNameTarget,
  type HubNameTarget,
  PAYMENT_KIND,
  PAYMENT_OUTCOME,
  PAYMENT_STATE,
  QUOTE_VERDICT,
  type StoredPayment,
} from '../../registry/payment/payment.js'
import type { Payment } from '../generated/client.js'
import { nameOfCode } from '../pg/codes.js'
import type { DecodedRow } from '../pg/rows.js'

/** SQL: columns of `payments`, with the alias `p`, from which `paymentFromRow` makes a `StoredPayment`. */
export const PAYMENT_COLUMNS = `p.id, p.kind, p.chain, p.state, p.tx, p.block, p.block_hash, p.sequence, p.payer, p.token, p.amount, p.name_word,
  p.referral, p.paid_ms, p.source, p.quote_id, p.amount_wei, p.expires_at, p.verdict, p.community_word, p.recipient,
  p.number, p.reclaimable_ms, p.outcome`

/** A row of `PAYMENT_COLUMNS`. Columns that only the other kind of payments has are null. */
export type PaymentRow = Omit<
  DecodedRow<Payment>,
  'network' | 'name' | 'community' | 'outcomeBlock'
>

export function paymentFromRow(row: PaymentRow): StoredPayment {
  const { id, chain, tx, block, blockHash, sequence, payer, token, amount, referral, paidMs } = row
  return {
    id,
    chain,
    tx,
    block,
    blockHash,
    sequence,
    payer,
    referral,
    paidMs,
    state: nameOfCode(PAYMENT_STATE, row.state),
    outcome: row.outcome === null ? null : nameOfCode(PAYMENT_OUTCOME, row.outcome),
    money: { token, amount },
    target: targetOf(row),
  }
}

function targetOf(row: PaymentRow): HubNameTarget | CommunityNameTarget {
  const { nameWord: name, source, quoteId, amountWei, expiresAt, verdict } = row
  const reclaimableMs = row.reclaimableMs!
  if (row.kind === PAYMENT_KIND.name)
    return {
      kind: 'name',
      name,
      source: source!,
      quoteId: quoteId!,
      amountWei: amountWei!,
      expiresAt: expiresAt!,
      verdict: nameOfCode(QUOTE_VERDICT, verdict!),
      reclaimableMs,
    }
  const community = row.communityWord!
  const recipient = row.recipient!
  const number = row.number!
  return { kind: 'communityName', community, name, recipient, number, reclaimableMs }
}
