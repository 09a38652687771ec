import type pg from 'pg'
import type { MadePayment } from '../../registry/journal/madePayment.js'
import { wordToName } from '../../registry/primitives/name.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { REFUSAL_HAS_LEFT } from '../outbox/communityRefusals.js'

/**
 * Makes the unconfirmed payments for community names of an EVM chain what its tail says, from a block on. An id tells what was
 * paid and when, so a payment that a reorg moves to a block of another time comes under another one.
 */
export async function writeTailCommunityPayments(
  client: pg.ClientBase,
  network: Network,
  chain: number,
  tail: { dropFrom: number; payments: readonly MadePayment[] },
): Promise<void> {
  await client.query({
    name: 'drop_community_payments',
    text: 'DELETE FROM community_payments WHERE network = $1 AND chain = $2 AND block >= $3 AND NOT confirmed',
    values: [NETWORK_CODE[network], chain, tail.dropFrom],
  })
  await upsert(client, network, chain, tail.payments, false)
}

/** Makes the unconfirmed payments of a chain exactly these. */
export async function replaceTailCommunityPayments(
  client: pg.ClientBase,
  network: Network,
  chain: number,
  payments: readonly MadePayment[],
): Promise<void> {
  await client.query({
    name: 'replace_community_payments',
    text: `DELETE FROM community_payments WHERE network = $1 AND chain = $2 AND NOT confirmed AND payment_id <> ALL ($3::bytea[])`,
    values: [NETWORK_CODE[network], chain, payments.map(({ paymentId }) => paymentId)],
  })
  await upsert(client, network, chain, payments, false)
}

/** Writes payments that are believed. One that is stored as believed is never changed again. */
export const confirmCommunityPayments = (
  client: pg.ClientBase,
  network: Network,
  chain: number,
  payments: readonly MadePayment[],
): Promise<void> => upsert(client, network, chain, payments, true)

async function upsert(
  client: pg.ClientBase,
  network: Network,
  chain: number,
  payments: readonly MadePayment[],
  isConfirmed: boolean,
): Promise<void> {
  if (payments.length === 0) return
  await client.query({
    name: 'upsert_community_payments',
    text: `INSERT INTO community_payments AS p (network, chain, confirmed, payment_id, tx, block, block_hash, log_index, payer, token, amount,
        recipient, community_word, name_word, community, name, referral, paid_ms, held_until_ms)
      SELECT $1, $2, $3, * FROM unnest($4::bytea[], $5::bytea[], $6::int8[], $7::bytea[], $8::int4[], $9::bytea[], $10::text[],
        $11::numeric[], $12::text[], $13::bytea[], $14::bytea[], $15::text[], $16::text[], $17::bytea[], $18::int8[], $19::int8[])
      ON CONFLICT (network, chain, payment_id) DO UPDATE SET
        confirmed = excluded.confirmed, tx = excluded.tx, block = excluded.block, block_hash = excluded.block_hash,
        log_index = excluded.log_index, payer = excluded.payer, token = excluded.token, amount = excluded.amount,
        recipient = excluded.recipient, community_word = excluded.community_word, name_word = excluded.name_word,
        community = excluded.community, name = excluded.name, referral = excluded.referral, paid_ms = excluded.paid_ms,
        held_until_ms = excluded.held_until_ms
      WHERE NOT p.confirmed`,
    values: [
      NETWORK_CODE[network],
      chain,
      isConfirmed,
      payments.map((p) => p.paymentId),
      payments.map((p) => p.tx),
      payments.map((p) => p.block),
      payments.map((p) => p.blockHash),
      payments.map((p) => p.logIndex),
      payments.map((p) => p.payer),
      payments.map((p) => p.token),
      payments.map((p) => p.amount.toString()),
      payments.map((p) => p.recipient),
      payments.map((p) => p.community),
      payments.map((p) => p.name),
      payments.map((p) => wordToName(p.community)),
      payments.map((p) => wordToName(p.name)),
      payments.map((p) => p.referral),
      payments.map((p) => p.paidMs),
      payments.map((p) => p.heldUntilMs),
    ],
  })
}

/** A payment that is believed and waits to be judged. */
export interface OpenCommunityPayment extends MadePayment {
  chain: number
  /** Label of the network it was made on. */
  label: string
  /** It was made on an EVM chain. */
  isEvm: boolean
  /** Its community, null where its word is no name. */
  communityName: string | null
  /**
   * Something was sent to give it back, in this generation of the journal or an earlier one: whatever it is worth now, it buys
   * nothing.
   */
  isRefused: boolean
}

interface Columns {
  chain: number
  label: string
  is_evm: boolean
  payment_id: Buffer
  tx: Buffer
  block: number
  block_hash: Buffer | null
  log_index: number
  payer: Buffer
  token: string
  amount: string
  recipient: string
  community_word: Buffer
  name_word: Buffer
  community: string | null
  referral: Buffer | null
  paid_ms: number
  held_until_ms: number
  is_refused: boolean
}

/**
 * Payments that are believed and not in the journal, oldest first.
 * @param except ids that are passed over
 */
export async function openCommunityPayments(
  db: pg.Pool | pg.ClientBase,
  network: Network,
  limit: number,
  except: readonly Buffer[] = [],
): Promise<OpenCommunityPayment[]> {
  const { rows } = await db.query<Columns>(
    `SELECT p.chain, c.label, c.chain_id IS NOT NULL AS is_evm, p.payment_id, p.tx, p.block, p.block_hash, p.log_index, p.payer, p.token, p.amount::text AS amount, p.recipient,
       p.community_word, p.name_word, p.community, p.referral, p.paid_ms, p.held_until_ms, ${REFUSAL_HAS_LEFT} AS is_refused
     FROM community_payments p JOIN chains c ON c.network = p.network AND c.chain = p.chain
     WHERE p.network = $1 AND p.confirmed AND NOT p.appended AND p.payment_id <> ALL ($3::bytea[])
     ORDER BY p.paid_ms, p.chain, p.block, p.log_index LIMIT $2`,
    [NETWORK_CODE[network], limit, except],
  )
  return rows.map((row) => ({
    chain: row.chain,
    label: row.label,
    isEvm: row.is_evm,
    paymentId: row.payment_id,
    tx: row.tx,
    block: row.block,
    blockHash: row.block_hash,
    logIndex: row.log_index,
    payer: row.payer,
    token: row.token,
    amount: BigInt(row.amount),
    recipient: row.recipient,
    community: row.community_word,
    name: row.name_word,
    communityName: row.community,
    referral: row.referral,
    paidMs: row.paid_ms,
    heldUntilMs: row.held_until_ms,
    isRefused: row.is_refused,
  }))
}

/**
 * Marks payments that are in the journal now, in its own transaction.
 * @throws Error where one of them is marked already, or gone: nothing may be entered twice
 */
export async function markAppended(
  client: pg.ClientBase,
  network: Network,
  payments: readonly Pick<OpenCommunityPayment, 'chain' | 'paymentId'>[],
): Promise<void> {
  const { rowCount } = await client.query(
    `UPDATE community_payments p SET appended = true FROM unnest($2::int2[], $3::bytea[]) AS u(chain, payment_id)
     WHERE p.network = $1 AND p.chain = u.chain AND p.payment_id = u.payment_id AND p.confirmed AND NOT p.appended`,
    [NETWORK_CODE[network], payments.map(({ chain }) => chain), payments.map(({ paymentId }) => paymentId)],
  )
  if (rowCount !== payments.length)
    throw new Error(`marking payments of communities: ${rowCount} of ${payments.length} were open`)
}
