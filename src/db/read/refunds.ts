import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../../registry/network.js'
import { type PayoutKind, type PayoutState, payoutKindOf, payoutStateOf } from '../payoutRows.js'
import { DUE } from '../payouts.js'

/** A payment that is owed back, or was paid back. */
export interface Refund {
  network: Network
  messageId: Buffer
  /** Program that was paid, base58. */
  program: string
  sequence: number
  /** Of the transaction that paid, 64 bytes. */
  signature: Buffer
  /** Stored address. */
  payer: Buffer
  /** The name's word, as it was paid for. */
  name: Buffer
  lamports: bigint
  paidMs: number
  /** `foreign`: it keeps to no quote of ours. `lost`: the name is another's, or the hub refused the bid. */
  cause: 'foreign' | 'lost'
  /** How far its refund is; null while nobody has asked for it. */
  state: PayoutState | null
  reason: string | null
  failures: number
  /** Of the transaction that refunds, 64 bytes. */
  refundSignature: Buffer | null
}

interface Columns {
  message_id: Buffer
  program: string
  sequence: number
  signature: Buffer
  payer: Buffer
  name: Buffer
  lamports: string
  paid_ms: number
  verdict: number
  state: number | null
  reason: string | null
  failures: number | null
  refund_signature: Buffer | null
}

/** The refunds of a network, oldest first: those that are owed, and with `all` those that were paid. */
export async function listRefunds(pool: pg.Pool, network: Network, all: boolean): Promise<Refund[]> {
  const columns = `p.message_id, c.instance AS program, p.sequence, p.signature, p.payer, p.name, p.lamports::text, p.paid_ms,
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
    network,
    messageId: row.message_id,
    program: row.program,
    sequence: row.sequence,
    signature: row.signature,
    payer: row.payer,
    name: row.name,
    lamports: BigInt(row.lamports),
    paidMs: row.paid_ms,
    cause: row.verdict === 2 ? 'foreign' : 'lost',
    state: row.state === null ? null : payoutStateOf(row.state),
    reason: row.reason,
    failures: row.failures ?? 0,
    refundSignature: row.refund_signature,
  }))
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
