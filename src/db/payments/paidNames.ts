import { decodeCommunityEffects } from '../../registry/journal/communityEffects.js'
import { ENTRY_KIND } from '../../registry/journal/entry.js'
import type { PaymentJudgement } from '../../registry/payment/decide.js'
import type { Network } from '../../registry/primitives/network.js'
import type { Confirmations, Refund } from '../../registry/status.js'
import { stateCode } from '../outbox/deliveryRows.js'
import { payoutKindCode, payoutStateOf } from '../outbox/payoutRows.js'
import { prepare, type Queryable } from '../pg/prepared.js'

/** A payment for a community name that a transaction made, and what became of it. */
export interface TxPaidName {
  logIndex: number
  /** Words. */
  community: Buffer
  name: Buffer
  paidMs: number
  isConfirmed: boolean
  /** null on Solana, where the cluster tells. */
  confirmations: Confirmations | null
  /** null until it is in the journal. */
  judgement: PaymentJudgement | null
  /** Of one that bought nothing. */
  refund: Refund | null
}

const CONFIRMED = stateCode('confirmed')
const PARKED = stateCode('parked')
/** The relayer's word for a payment that it could not give back in time. */
const HOLD_OVER = 'hold_over'

interface Columns {
  log_index: number
  block: number
  community_word: Buffer
  name_word: Buffer
  paid_ms: number
  confirmed: boolean
  is_evm: boolean
  next_block: number
  latest: number | null
  effects: Buffer | null
  refusal_state: number | null
  payout_state: number | null
  refusal_reason: string | null
}

const byTx = prepare<Columns>(
  'tx_paid_names',
  (
    l,
  ) => `SELECT p.log_index, p.block, p.community_word, p.name_word, p.paid_ms, p.confirmed, c.chain_id IS NOT NULL AS is_evm, c.next_block,
      (SELECT max(t.block) FROM tail_blocks t WHERE t.network = ${l.network} AND t.chain = p.chain) AS latest,
      j.effects, d.state AS refusal_state, coalesce(d.reason, o.reason) AS refusal_reason, o.state AS payout_state
    FROM community_payments p
    JOIN chains c ON c.network = p.network AND c.chain = p.chain
    LEFT JOIN LATERAL (
      SELECT j.effects FROM journal_heads h JOIN ${l.journal} j ON j.network = ${l.network} AND j.generation = h.generation
        AND j.chain = p.chain AND j.block = p.block AND j.log_index = p.log_index AND j.kind = ${ENTRY_KIND.pay_community_name}
      WHERE h.network = ${l.network} AND p.appended LIMIT 1
    ) j ON true
    LEFT JOIN deliveries d ON d.network = ${l.network} AND d.guid = p.payment_id AND d.kind = 5
    LEFT JOIN payouts o ON o.network = ${l.network} AND o.message_id = p.payment_id AND o.kind = ${payoutKindCode('refuse')}
    WHERE p.network = ${l.network} AND p.tx = $1
    ORDER BY p.block, p.log_index`,
)

/** The payments for community names of a transaction (hash or signature), in order; empty when it made none that is known. */
export async function findPaidNames(db: Queryable, network: Network, tx: Buffer): Promise<TxPaidName[]> {
  const rows = await byTx(db, network, [tx])
  return rows.map((row) => {
    const latest = Math.max(row.latest ?? row.block, row.block)
    const judgement = row.effects && judgementOf(row.effects)
    const isOwedBack = judgement !== null && judgement.outcome !== 'registered'
    return {
      logIndex: row.log_index,
      community: row.community_word,
      name: row.name_word,
      paidMs: row.paid_ms,
      isConfirmed: row.confirmed,
      confirmations: row.is_evm ? { have: latest - row.block, need: Math.max(0, latest - (row.next_block - 1)) } : null,
      judgement,
      refund: isOwedBack ? refundOf(row) : null,
    }
  })
}

function judgementOf(effects: Buffer): PaymentJudgement {
  const judged = decodeCommunityEffects(effects)
  return judged.outcome === 'registered' ? { outcome: 'registered' } : judged
}

function refundOf({ refusal_state: delivery, payout_state: payout, refusal_reason: reason }: Columns): Refund {
  const state = payout === null ? null : payoutStateOf(payout)
  if (delivery === CONFIRMED || state === 'confirmed') return 'refused'
  return (delivery === PARKED || state === 'parked') && reason === HOLD_OVER ? 'too_late' : 'held'
}
