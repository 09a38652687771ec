import type pg from 'pg'
import { NATIVE } from '../../registry/community/rules.js'
import { decodeCommunityEffects } from '../../registry/journal/communityEffects.js'
import { ENTRY_KIND } from '../../registry/journal/entry.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import {
  type PayoutKind,
  type PayoutState,
  payoutKindCode,
  payoutKindOf,
  payoutStateCode,
  payoutStateOf,
} from './payoutRows.js'
import { DUE } from './payouts.js'

/** A payment that is owed back, or was paid back. */
export interface Refund {
  network: Network
  /** `refuse`: a payment for a name of a community, which needs nobody's word. */
  kind: 'refund' | 'refuse'
  messageId: Buffer
  /** Program that was paid, base58. */
  program: string
  sequence: number
  /** Of the transaction that paid, 64 bytes. */
  signature: Buffer
  /** Stored address. */
  payer: Buffer
  /** The name's word, as it was paid for, and its community's, if it is below one. */
  name: Buffer
  community: Buffer | null
  /** `native`, or the mint of an SPL token. */
  token: string
  /** Base units. */
  amount: bigint
  paidMs: number
  /**
   * `foreign`: it keeps to no quote of ours. `lost`: the name is another's, or the hub refused the bid. Else why a community's rules
   * refuse it.
   */
  cause: string
  /** How far its refund is; null while nobody has asked for it. */
  state: PayoutState | null
  reason: string | null
  failures: number
  /** Of the transaction that refunds, 64 bytes. */
  refundSignature: Buffer | null
}

interface SharedColumns {
  message_id: Buffer
  program: string
  sequence: number
  signature: Buffer
  payer: Buffer
  name: Buffer
  amount: string
  paid_ms: number
  state: number | null
  reason: string | null
  failures: number | null
  refund_signature: Buffer | null
}

interface Columns extends SharedColumns {
  verdict: number
}

/** The refunds of a network, oldest first: those that are owed, and with `all` those that were paid. */
export async function listRefunds(pool: pg.Pool, network: Network, all: boolean): Promise<Refund[]> {
  const columns = `p.message_id, c.instance AS program, p.sequence, p.signature, p.payer, p.name, p.lamports::text AS amount, p.paid_ms,
    p.verdict, o.state, o.reason, o.failures, o.signature AS refund_signature`
  const { rows } = await pool.query<Columns>(
    `WITH ${DUE}
     SELECT ${columns} FROM due p
       JOIN chains c ON c.network = p.network AND c.chain = p.chain
       LEFT JOIN payouts o ON o.network = p.network AND o.message_id = p.message_id
       WHERE p.kind = 2
     UNION ALL
     SELECT ${columns} FROM payouts o
       JOIN payments p ON p.network = o.network AND p.message_id = o.message_id AND p.settled
       JOIN chains c ON c.network = p.network AND c.chain = p.chain
       WHERE o.network = $1 AND o.kind = 2 AND $2
     ORDER BY paid_ms, sequence`,
    [NETWORK_CODE[network], all],
  )
  return rows.map((row) => ({
    ...refundOf(network, row),
    kind: 'refund',
    community: null,
    token: NATIVE,
    cause: row.verdict === 2 ? 'foreign' : 'lost',
  }))
}

const refundOf = (network: Network, row: SharedColumns) => ({
  network,
  messageId: row.message_id,
  program: row.program,
  sequence: row.sequence,
  signature: row.signature,
  payer: row.payer,
  name: row.name,
  amount: BigInt(row.amount),
  paidMs: row.paid_ms,
  state: row.state === null ? null : payoutStateOf(row.state),
  reason: row.reason,
  failures: row.failures ?? 0,
  refundSignature: row.refund_signature,
})

interface RefusalColumns extends SharedColumns {
  community: Buffer
  token: string
  effects: Buffer | null
}

/**
 * The payments for names of communities on a network's Solana cluster that bought nothing, oldest first: those that are not given
 * back yet, or could not be, and with `all` those that were.
 */
export async function listRefusals(pool: pg.Pool, network: Network, all: boolean): Promise<Refund[]> {
  const { rows } = await pool.query<RefusalColumns>(
    `SELECT o.message_id, c.instance AS program, p.log_index AS sequence, p.tx AS signature, p.payer, p.community_word AS community,
       p.name_word AS name, p.token, p.amount::text AS amount, p.paid_ms, j.effects, o.state, o.reason, o.failures,
       o.signature AS refund_signature
     FROM payouts o
     JOIN community_payments p ON p.network = o.network AND p.payment_id = o.message_id
     JOIN chains c ON c.network = p.network AND c.chain = p.chain
     JOIN journal_heads h ON h.network = o.network
     LEFT JOIN journal j ON j.network = o.network AND j.generation = h.generation AND j.chain = p.chain AND j.block = p.block
       AND j.log_index = p.log_index AND j.kind = ${ENTRY_KIND.pay_community_name}
     WHERE o.network = $1 AND o.kind = ${payoutKindCode('refuse')} AND ($2 OR o.state <> ${payoutStateCode('confirmed')})
     ORDER BY p.paid_ms, p.log_index`,
    [NETWORK_CODE[network], all],
  )
  return rows.map((row) => ({
    ...refundOf(network, row),
    kind: 'refuse',
    community: row.community,
    token: row.token,
    cause: row.effects ? causeOf(row.effects) : 'lost',
  }))
}

function causeOf(effects: Buffer): string {
  const judged = decodeCommunityEffects(effects)
  return judged.outcome === 'refused' ? judged.reason : judged.outcome
}

export interface PayoutStats {
  /** Payouts that have not ended, and since when the oldest of them waits (milliseconds). */
  open: { kind: PayoutKind; state: PayoutState; count: number; oldestMs: number }[]
  /** Refunds that nobody has asked for yet. */
  owed: { count: number; lamports: bigint }
}

/** What an operator and the metrics want to know of a network's payouts. */
export async function payoutStats(pool: pg.Pool, network: Network): Promise<PayoutStats> {
  const { rows } = await pool.query<{ kind: number; state: number; count: number; oldest_ms: number }>(
    `SELECT kind, state, count(*)::int AS count, min(created_ms) AS oldest_ms FROM payouts
     WHERE network = $1 AND (state < 3 OR state = 4) GROUP BY kind, state`,
    [NETWORK_CODE[network]],
  )
  const owed = await pool.query<{ count: number; lamports: string }>(
    `WITH ${DUE} SELECT count(*)::int AS count, coalesce(sum(lamports), 0)::text AS lamports FROM due d
     WHERE kind = 2 AND NOT EXISTS (SELECT 1 FROM payouts o WHERE o.network = d.network AND o.message_id = d.message_id)`,
    [NETWORK_CODE[network]],
  )
  return {
    open: rows.map((row) => ({
      kind: payoutKindOf(row.kind),
      state: payoutStateOf(row.state),
      count: row.count,
      oldestMs: row.oldest_ms,
    })),
    owed: { count: owed.rows[0]!.count, lamports: BigInt(owed.rows[0]!.lamports) },
  }
}
