import type pg from 'pg'
import type { Hex } from 'viem'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { DELIVERY_KIND, DELIVERY_STATE, wordOf } from '../pg/codes.js'

/** The relayer's rows. What they mean is the relayer's matter (src/relayer); here they are kept. */

export type DeliveryStateName = keyof typeof DELIVERY_STATE
/**
 * `verify` and `execute` carry a message of the bridge, `deliver` a payment on Solana; `refuse` gives a payment for a community
 * name back to its payer, on the chain where it was made. `fill` uses up a nonce that nothing holds, so
 * that those behind it can go on.
 */
export type DeliveryKind = keyof typeof DELIVERY_KIND

export const isDeliveryState = (text: string): text is DeliveryStateName => text in DELIVERY_STATE
export const stateCode = (state: DeliveryStateName): number => DELIVERY_STATE[state]
export const kindCode = (kind: DeliveryKind): number => DELIVERY_KIND[kind]

export interface StoredTx {
  hash: Hex
  raw: Hex
  purpose: 'deliver' | 'cancel'
  gas: bigint
  valueWei: bigint
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
  sentBlock: number | null
  isRejected: boolean
}

/** What a step of a delivery may change. */
export interface DeliveryFields {
  state: DeliveryStateName
  valueWei: bigint
  nonce: number | null
  txs: readonly StoredTx[]
  included: { hash: Hex; block: number } | null
  failures: number
  nextMs: number
  spentWei: bigint
  reason: string | null
  release: string | null
}

export interface DeliveryRow extends DeliveryFields {
  network: Network
  id: string
  kind: DeliveryKind
  chain: number
  signer: Buffer | null
  createdMs: number
  updatedMs: number
  /** Counts its changes. */
  version: number
  /** What it is for: a message's guid, or the id of a payment; null for a fill. */
  guid: Buffer | null
  /** The bridge's message that it is for; null for other kinds. */
  message: { guid: Buffer; chain: number; txHash: Buffer; sentMs: number; packet: Buffer; options: Buffer } | null
  /** The payment that it delivers; null for other kinds. */
  payment: DeliveredPayment | null
  /** The payment that it gives back; null for other kinds, and while a rewind has taken the payment back. */
  refusal: RefusedPayment | null
}

/** A payment for a community name that is given back. */
export interface RefusedPayment {
  tx: Buffer
  block: number
  paidMs: number
  heldUntilMs: number
  /** Words. */
  community: Buffer
  name: Buffer
}

/**
 * A refusal doesn't rest longer than this between attempts: the payment is held for an hour or so, and then it is its
 * recipient's.
 */
export const REFUSAL_REST_MS = 60_000

/** A payment as the hub is told of it. */
export interface DeliveredPayment {
  messageId: Buffer
  /** Of the transaction that paid. */
  signature: Buffer
  paidMs: number
  /** Stored address. */
  payer: Buffer
  /** The name's word. */
  name: Buffer
  amountWei: bigint
  referral: Buffer
  /** It is finalized and keeps to a quote of ours. */
  isHonoured: boolean
}

/** A signer of ours on a chain. */
export interface SignerKey {
  network: Network
  chain: number
  signer: Buffer
}

interface Columns {
  network: number
  id: number
  guid: Buffer | null
  kind: number
  chain: number
  signer: Buffer | null
  state: number
  value_wei: string
  nonce: number | null
  txs: JsonTx[]
  included: { hash: Hex; block: number } | null
  failures: number
  next_ms: number
  spent_wei: string
  reason: string | null
  release: string | null
  created_ms: number
  updated_ms: number
  version: number
  m_chain: number
  m_tx_hash: Buffer
  m_sent_ms: number
  packet: Buffer | null
  options: Buffer
  p_signature: Buffer | null
  p_paid_ms: number
  p_payer: Buffer
  p_name: Buffer
  p_amount_wei: string
  p_referral: Buffer
  p_is_honoured: boolean
  q_tx: Buffer | null
  q_block: number
  q_paid_ms: number
  q_held_until_ms: number
  q_community: Buffer
  q_name: Buffer
}

/** Numbers of any size as decimal text: JSON's own would lose digits. */
interface JsonTx extends Omit<StoredTx, 'gas' | 'valueWei' | 'maxFeePerGas' | 'maxPriorityFeePerGas'> {
  gas: string
  valueWei: string
  maxFeePerGas: string
  maxPriorityFeePerGas: string
}

const SELECT = `SELECT d.network, d.id, d.guid, d.kind, d.chain, d.signer, d.state, d.value_wei, d.nonce, d.txs, d.included,
    d.failures, d.next_ms, d.spent_wei, d.reason, d.release, d.created_ms, d.updated_ms, d.version,
    m.chain AS m_chain, m.tx_hash AS m_tx_hash, m.sent_ms AS m_sent_ms, m.packet, m.options,
    p.signature AS p_signature, p.paid_ms AS p_paid_ms, p.payer AS p_payer, p.name AS p_name, p.amount_wei AS p_amount_wei,
    p.referral AS p_referral, p.confirmed AND p.verdict IS NOT DISTINCT FROM 1 AS p_is_honoured,
    q.tx AS q_tx, q.block AS q_block, q.paid_ms AS q_paid_ms, q.held_until_ms AS q_held_until_ms, q.community_word AS q_community,
    q.name_word AS q_name
  FROM deliveries d
  LEFT JOIN messages m ON d.kind IN (1, 2) AND m.network = d.network AND m.guid = d.guid
  LEFT JOIN payments p ON d.kind = 4 AND p.network = d.network AND p.message_id = d.guid
  LEFT JOIN community_payments q ON d.kind = 5 AND q.network = d.network AND q.chain = d.chain AND q.payment_id = d.guid`

/** Runs a question about deliveries: `where` is what follows SELECT ... FROM, with its own parameters. */
export async function selectDeliveries(
  db: pg.Pool | pg.ClientBase,
  where: string,
  values: readonly unknown[],
): Promise<DeliveryRow[]> {
  const { rows } = await db.query<Columns>(`${SELECT} ${where}`, values as unknown[])
  return rows.map(rowOf)
}

/** A signed transaction as the database holds it. */
export const jsonTx = (tx: StoredTx): JsonTx => ({
  ...tx,
  gas: tx.gas.toString(),
  valueWei: tx.valueWei.toString(),
  maxFeePerGas: tx.maxFeePerGas.toString(),
  maxPriorityFeePerGas: tx.maxPriorityFeePerGas.toString(),
})

const storedTx = (tx: JsonTx): StoredTx => ({
  ...tx,
  gas: BigInt(tx.gas),
  valueWei: BigInt(tx.valueWei),
  maxFeePerGas: BigInt(tx.maxFeePerGas),
  maxPriorityFeePerGas: BigInt(tx.maxPriorityFeePerGas),
})

function rowOf(row: Columns): DeliveryRow {
  const kind = wordOf(DELIVERY_KIND, row.kind)
  return {
    network: row.network === NETWORK_CODE.mainnet ? 'mainnet' : 'testnet',
    id: String(row.id),
    kind,
    chain: row.chain,
    signer: row.signer,
    state: wordOf(DELIVERY_STATE, row.state),
    valueWei: BigInt(row.value_wei),
    nonce: row.nonce,
    txs: row.txs.map(storedTx),
    included: row.included,
    failures: row.failures,
    nextMs: kind === 'refuse' ? Math.min(row.next_ms, row.updated_ms + REFUSAL_REST_MS) : row.next_ms,
    spentWei: BigInt(row.spent_wei),
    reason: row.reason,
    release: row.release,
    createdMs: row.created_ms,
    updatedMs: row.updated_ms,
    version: row.version,
    guid: row.guid,
    refusal: row.q_tx && {
      tx: row.q_tx,
      block: row.q_block,
      paidMs: row.q_paid_ms,
      heldUntilMs: row.q_held_until_ms,
      community: row.q_community,
      name: row.q_name,
    },
    message:
      row.guid && row.packet
        ? {
            guid: row.guid,
            chain: row.m_chain,
            txHash: row.m_tx_hash,
            sentMs: row.m_sent_ms,
            packet: row.packet,
            options: row.options,
          }
        : null,
    payment:
      row.guid && row.p_signature
        ? {
            messageId: row.guid,
            signature: row.p_signature,
            paidMs: row.p_paid_ms,
            payer: row.p_payer,
            name: row.p_name,
            amountWei: BigInt(row.p_amount_wei),
            referral: row.p_referral,
            isHonoured: row.p_is_honoured,
          }
        : null,
  }
}
