import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../registry/network.js'

/** The relayer's rows of what becomes of payments' money. What they mean is the relayer's matter (src/relayer/payouts). */

/** By number in the database; never renumber. */
const STATES = ['queued', 'signed', 'sent', 'confirmed', 'parked'] as const
export type PayoutState = (typeof STATES)[number]
const KINDS = ['settle', 'refund'] as const
/** `settle`: the name was won, the money is kept. `refund`: it goes back to who paid. */
export type PayoutKind = (typeof KINDS)[number]

export const payoutStateCode = (state: PayoutState): number => STATES.indexOf(state)
export const payoutKindCode = (kind: PayoutKind): number => KINDS.indexOf(kind) + 1
export const payoutStateOf = (code: number): PayoutState => STATES[code]!
export const payoutKindOf = (code: number): PayoutKind => KINDS[code - 1]!

/** A signed transaction. */
export interface PayoutTx {
  /** 64 bytes. */
  signature: Buffer
  raw: Buffer
  /** It can land in blocks up to this height. */
  lastValidHeight: number
}

/** What a step of a payout may change. */
export interface PayoutFields {
  state: PayoutState
  /** Signed and perhaps on its way; of a confirmed one, what did it (its bytes may be another's and are dropped then). */
  tx: PayoutTx | null
  failures: number
  /** Nothing is attempted before (milliseconds). */
  nextMs: number
  reason: string | null
}

export interface PayoutRow extends PayoutFields {
  network: Network
  kind: PayoutKind
  createdMs: number
  /** Counts its changes. */
  version: number
  payment: PaidMoney
}

/** The payment whose money it is. */
export interface PaidMoney {
  messageId: Buffer
  quoteId: Buffer
  /** Stored address. */
  payer: Buffer
  sequence: bigint
  lamports: bigint
  slot: number
  paidMs: number
}

interface Columns {
  network: number
  kind: number
  state: number
  tx_signature: Buffer | null
  raw: Buffer | null
  last_valid_height: number | null
  failures: number
  next_ms: number
  reason: string | null
  created_ms: number
  version: number
  message_id: Buffer
  quote_id: Buffer
  payer: Buffer
  sequence: number
  lamports: number
  slot: number
  paid_ms: number
}

const SELECT = `SELECT o.network, o.kind, o.state, o.signature AS tx_signature, o.raw, o.last_valid_height, o.failures, o.next_ms,
    o.reason, o.created_ms, o.version, p.message_id, p.quote_id, p.payer, p.sequence, p.lamports, p.slot, p.paid_ms
  FROM payouts o JOIN payments p ON p.network = o.network AND p.message_id = o.message_id`

/** Runs a question about payouts `o` and their payments `p`: `where` is what follows SELECT ... FROM. */
export async function selectPayouts(
  db: pg.Pool | pg.ClientBase,
  where: string,
  values: readonly unknown[],
): Promise<PayoutRow[]> {
  const { rows } = await db.query<Columns>(`${SELECT} ${where}`, values as unknown[])
  return rows.map((row) => ({
    network: row.network === NETWORK_CODE.mainnet ? 'mainnet' : 'testnet',
    kind: payoutKindOf(row.kind),
    state: payoutStateOf(row.state),
    tx:
      row.tx_signature && row.raw && row.last_valid_height !== null
        ? { signature: row.tx_signature, raw: row.raw, lastValidHeight: row.last_valid_height }
        : null,
    failures: row.failures,
    nextMs: row.next_ms,
    reason: row.reason,
    createdMs: row.created_ms,
    version: row.version,
    payment: {
      messageId: row.message_id,
      quoteId: row.quote_id,
      payer: row.payer,
      sequence: BigInt(row.sequence),
      lamports: BigInt(row.lamports),
      slot: row.slot,
      paidMs: row.paid_ms,
    },
  }))
}
