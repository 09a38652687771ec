import { decodeCommunityEffects } from '../../registry/journal/communityEffects.js'
import { ENTRY_KIND } from '../../registry/journal/entry.js'
import type { PaymentJudgement } from '../../registry/payment/decide.js'
import type { Network } from '../../registry/primitives/network.js'
import type { Confirmations, Refund } from '../../registry/status.js'
import { payoutStateOf } from '../outbox/payoutRows.js'
import { DELIVERY_KIND, DELIVERY_STATE, PAYOUT_KIND } from '../pg/codes.js'
import { prepare } from '../pg/prepared.js'
import type { Queryable } from '../pg/rows.js'

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

/** The relayer's word for a payment that it could not give back in time. */
const HOLD_OVER = 'hold_over'

interface Columns {
  logIndex: number
  block: number
  communityWord: Buffer
  nameWord: Buffer
  paidMs: number
  confirmed: boolean
  isEvm: boolean
  nextBlock: number
  latest: number | null
  effects: Buffer | null
  refusalState: number | null
  payoutState: number | null
  refusalReason: string | null
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
    LEFT JOIN deliveries d ON d.network = ${l.network} AND d.guid = p.payment_id AND d.kind = ${DELIVERY_KIND.refuse}
    LEFT JOIN payouts o ON o.network = ${l.network} AND o.message_id = p.payment_id AND o.kind = ${PAYOUT_KIND.refuse}
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
      logIndex: row.logIndex,
      community: row.communityWord,
      name: row.nameWord,
      paidMs: row.paidMs,
      isConfirmed: row.confirmed,
      confirmations: row.isEvm ? { have: latest - row.block, need: Math.max(0, latest - (row.nextBlock - 1)) } : null,
      judgement,
      refund: isOwedBack ? refundOf(row) : null,
    }
  })
}

function judgementOf(effects: Buffer): PaymentJudgement {
  const judged = decodeCommunityEffects(effects)
  return judged.outcome === 'registered' ? { outcome: 'registered' } : judged
}

function refundOf({ refusalState: delivery, payoutState: payout, refusalReason: reason }: Columns): Refund {
  const state = payout === null ? null : payoutStateOf(payout)
  if (delivery === DELIVERY_STATE.confirmed || state === 'confirmed') return 'refused'
  return (delivery === DELIVERY_STATE.parked || state === 'parked') && reason === HOLD_OVER ? 'too_late' : 'held'
}
