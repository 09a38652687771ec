import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { PAYOUT_KIND, PAYOUT_STATE, wordOf } from '../pg/codes.js'

/** The relayer's rows of what becomes of payments' money. What they mean is the relayer's matter (src/relayer/payouts). */

export type PayoutState = keyof typeof PAYOUT_STATE
export const PAYOUT_KINDS = ['settle', 'refund', 'refuse'] as const
/**
 * `settle`: the name was won, the money is kept. `refund`: it goes back to who paid. `refuse`: a payment for a name of a community that
 * bought nothing is made its payer's again.
 */
export type PayoutKind = keyof typeof PAYOUT_KIND

export const payoutStateCode = (state: PayoutState): number => PAYOUT_STATE[state]
export const payoutKindCode = (kind: PayoutKind): number => PAYOUT_KIND[kind]
export const payoutStateOf = (code: number): PayoutState => wordOf(PAYOUT_STATE, code)
export const payoutKindOf = (code: number): PayoutKind => wordOf(PAYOUT_KIND, code)

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

interface StoredPayout extends PayoutFields {
  network: Network
  createdMs: number
  /** Counts its changes. */
  version: number
}

/** A payout of a payment for a name on the hub. */
export interface MoneyRow extends StoredPayout {
  kind: 'settle' | 'refund'
  payment: PaidMoney
}

/** A payment for a name of a community that is given back. */
export interface RefusalRow extends StoredPayout {
  kind: 'refuse'
  payment: HeldMoney
}

export type PayoutRow = MoneyRow | RefusalRow

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

/** A payment for a name of a community: its recipient's from the end of the hold on. */
export interface HeldMoney {
  /** Its id in `community_payments`. */
  messageId: Buffer
  /** Stored address. */
  payer: Buffer
  sequence: bigint
  /** Words, as on chain. */
  community: Buffer
  name: Buffer
  /** `native` or a mint. */
  token: string
  /** Base units. */
  amount: bigint
  slot: number
  paidMs: number
}

interface PayoutColumns {
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
}

interface Columns extends PayoutColumns {
  quote_id: Buffer
  payer: Buffer
  sequence: number
  lamports: number
  slot: number
  paid_ms: number
}

const OF_PAYOUT = `SELECT o.network, o.kind, o.state, o.signature AS tx_signature, o.raw, o.last_valid_height, o.failures, o.next_ms,
    o.reason, o.created_ms, o.version, o.message_id`
const SELECT = `${OF_PAYOUT}, p.quote_id, p.payer, p.sequence, p.lamports, p.slot, p.paid_ms
  FROM payouts o JOIN payments p ON p.network = o.network AND p.message_id = o.message_id`
const SELECT_REFUSALS = `${OF_PAYOUT}, p.payer, p.log_index AS sequence, p.community_word, p.name_word, p.token, p.amount::text AS amount,
    p.block AS slot, p.paid_ms
  FROM payouts o JOIN community_payments p ON p.network = o.network AND p.payment_id = o.message_id`

/** Runs a question about payouts `o` of payments `p` for names on the hub: `where` is what follows SELECT ... FROM. */
export async function selectPayouts(
  db: pg.Pool | pg.ClientBase,
  where: string,
  values: readonly unknown[],
): Promise<MoneyRow[]> {
  const { rows } = await db.query<Columns>(`${SELECT} ${where}`, values as unknown[])
  return rows.map((row) => ({
    ...storedPayout(row),
    kind: payoutKindOf(row.kind) === 'settle' ? 'settle' : 'refund',
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

interface RefusalColumns extends PayoutColumns {
  payer: Buffer
  sequence: number
  community_word: Buffer
  name_word: Buffer
  token: string
  amount: string
  slot: number
  paid_ms: number
}

/** The same about payouts `o` of payments `p` for names of communities, which are always refusals. */
export async function selectPayoutRefusals(
  db: pg.Pool | pg.ClientBase,
  where: string,
  values: readonly unknown[],
): Promise<RefusalRow[]> {
  const { rows } = await db.query<RefusalColumns>(`${SELECT_REFUSALS} ${where}`, values as unknown[])
  return rows.map((row) => ({
    ...storedPayout(row),
    kind: 'refuse',
    payment: {
      messageId: row.message_id,
      payer: row.payer,
      sequence: BigInt(row.sequence),
      community: row.community_word,
      name: row.name_word,
      token: row.token,
      amount: BigInt(row.amount),
      slot: row.slot,
      paidMs: row.paid_ms,
    },
  }))
}

const storedPayout = (row: PayoutColumns): StoredPayout => ({
  network: row.network === NETWORK_CODE.mainnet ? 'mainnet' : 'testnet',
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
})
