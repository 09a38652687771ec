import { decodeBid } from '../../registry/journal/bid.js'
import { ENTRY_KIND } from '../../registry/journal/entry.js'
import { txKey } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import { WON } from '../pg/codes.js'
import { entryAt, prepare } from '../pg/prepared.js'
import type { Queryable } from '../pg/rows.js'

/** Where a transaction was sent, by whom, and what it pays. */
export interface Origin {
  /** Network label of its chain. */
  label: string
  /** Stored address of a bidder that won a name; null for others, whose wallet may be private. */
  sender: Buffer | null
  /** Of its bids on the hub in wei, or of its payments in the smallest unit of the token; null for a message. */
  paid: { token: string; amount: bigint } | null
}

/** Record of a transaction; the lowest rank counts. */
interface Row {
  rank: number
  label: string
  /** Of a bid. */
  body: Buffer | null
  isWon: boolean
  token: string | null
  amount: bigint | null
}

const records = prepare<Row>(
  'tx_origin',
  (l) => `SELECT o.rank, c.label, o.body, o.is_won, o.token, o.amount FROM (
      SELECT 0 AS rank, e.chain, e.log_index AS position, e.body, n.outcome = ${WON} AS is_won, NULL AS token, NULL::numeric AS amount
      FROM ${l.names} n JOIN journal_heads h ON h.network = ${l.network}
      CROSS JOIN LATERAL (${entryAt(l, 'h.generation', 'n.seq')}) e
      WHERE n.network = ${l.network} AND n.tx_key = $1 AND substring(e.body FROM 1 FOR 32) = $2
      UNION ALL SELECT 1, chain, log_index, body, false, NULL, NULL FROM facts
      WHERE network = ${l.network} AND tx_hash = $2 AND kind = ${ENTRY_KIND.bid}
      UNION ALL SELECT 2, chain, log_index, NULL, false, NULL, NULL FROM messages
      WHERE network = ${l.network} AND tx_hash = $2
      UNION ALL SELECT 3, chain, sequence, NULL, false, token, amount FROM payments
      WHERE network = ${l.network} AND tx = $2
      UNION ALL SELECT 4, chain, 0, NULL, false, NULL, NULL FROM tracked_txs
      WHERE network = ${l.network} AND hash = $2
    ) o JOIN chains c ON c.network = ${l.network} AND c.chain = o.chain ORDER BY o.rank, o.position`,
)

/** Null for a transaction that no record has. @param tx raw bytes of its hash or signature */
export async function findOrigin(
  db: Queryable,
  network: Network,
  tx: Buffer,
): Promise<Origin | null> {
  const rows = await records(db, network, [txKey(tx).toString(), tx])
  const [first] = rows
  if (!first) return null
  const own = rows.filter(({ rank }) => rank === first.rank)
  const { label, body, token } = first
  if (body) {
    const amounts = own.map((row) => decodeBid(row.body!).amountWei)
    return {
      label,
      sender: own.some(({ isWon }) => isWon) ? decodeBid(body).wallet : null,
      paid: { token: 'native', amount: sumOf(amounts) },
    }
  }
  const ofToken = own.filter((row) => row.token === token)
  const amount = sumOf(ofToken.map((row) => row.amount ?? 0n))
  return { label, sender: null, paid: token === null ? null : { token, amount } }
}

const sumOf = (amounts: readonly bigint[]): bigint =>
  amounts.reduce((sum, amount) => sum + amount, 0n)
