import type { InvalidReason } from '../../registry/invalidReasons.js'
import { txKeyOfHash } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import { MAX_STATUS_NAMES } from '../../registry/status.js'
import type { TrackedTx as StoredTx } from '../generated/client.js'
import {
  type PartitionNames,
  prepareCommand,
  prepareSingleRow,
  prepareStatement,
} from '../journal/partitions.js'
import { type DecodedRow, execute, prepared, type Queryable } from '../pg/rows.js'

/** Data stored about a transaction that a chain has returned at least once. */
export type TrackedTx = Pick<
  DecodedRow<StoredTx>,
  'chain' | 'sender' | 'nonce' | 'lastSeenMs' | 'replacedBy'
> & {
  /** Label of the chain that returned the transaction. */
  label: string
  verdict: InvalidReason | null
}

export const findTrackedTx = prepareSingleRow<TrackedTx, [hash: Buffer]>(
  (l) => `SELECT t.chain, c.label, t.sender, t.nonce, t.last_seen_ms, t.verdict, t.replaced_by
    FROM tracked_txs t JOIN chains c ON c.network = t.network AND c.chain = t.chain
    WHERE t.network = ${l.network} AND t.hash = $1`,
)

const readNewestJournalledBlocks = prepareStatement<{ chain: number; block: number }>(
  (l) => `SELECT chain, next_block - 1 AS block FROM chains WHERE network = ${l.network}`,
)

/**
 * The newest block of each EVM chain that the journal has, by the chain's number in the database. The block given for a
 * Solana chain means nothing, since its cursor is elsewhere (`ChainRow`).
 */
export async function readConfirmedBlocks(
  db: Queryable,
  network: Network,
): Promise<ReadonlyMap<number, number>> {
  return new Map(
    (await readNewestJournalledBlocks(db, network)).map(({ chain, block }) => [chain, block]),
  )
}

/** A chain's report that it has a transaction, and the time of the report, Unix ms. */
export type TxSighting = Pick<TrackedTx, 'chain' | 'sender' | 'nonce'> & { seenMs: number }

/**
 * A transaction's `last_seen_ms` is written at most once in this time, ms, since clients may poll every second. A
 * sender that becomes known is written without this delay.
 */
const SIGHTING_STEP_MS = 10_000

/** Stores that a transaction was seen. Sender and nonce do not change once they are known. */
export async function storeTxSighting(
  db: Queryable,
  network: Network,
  hash: Buffer,
  seen: TxSighting,
): Promise<void> {
  await execute(db, network, STORE_SIGHTING, [
    hash,
    seen.chain,
    seen.sender,
    seen.nonce,
    seen.seenMs,
  ])
}

const STORE_SIGHTING =
  prepared(`INSERT INTO tracked_txs AS t (network, hash, chain, sender, nonce, first_seen_ms, last_seen_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $6)
    ON CONFLICT (network, hash) DO UPDATE SET
      sender = coalesce(t.sender, excluded.sender),
      nonce = coalesce(t.nonce, excluded.nonce),
      last_seen_ms = greatest(t.last_seen_ms, excluded.last_seen_ms)
    WHERE excluded.last_seen_ms >= t.last_seen_ms + ${SIGHTING_STEP_MS} OR t.sender IS NULL AND excluded.sender IS NOT NULL`)

/** Stores the confirmed reason why a seen transaction is `invalid`. The first stored reason stays. */
export const storeInvalidVerdict = prepareCommand<[hash: Buffer, verdict: string]>(
  prepared(
    'UPDATE tracked_txs SET verdict = $3 WHERE network = $1 AND hash = $2 AND verdict IS NULL',
  ),
)

/** Stores the hash of the transaction that replaced a transaction. The first stored replacement stays. */
export const storeReplacement = prepareCommand<[hash: Buffer, by: Buffer]>(
  prepared(
    'UPDATE tracked_txs SET replaced_by = $3 WHERE network = $1 AND hash = $2 AND replaced_by IS NULL',
  ),
)

/** Summary of the rows that the database has of a transaction. `records` is a text made of their number and states. */
export interface TxProgress {
  records: string
  /** True if a bid, message or payment of the transaction is stored. Otherwise only the chains know its state. */
  isKnown: boolean
}

const joinReceiptSql = (l: PartitionNames, guid: string): string =>
  `LEFT JOIN received r ON r.network = ${l.network} AND r.guid = ${guid}`

/** SQL: the first rows of `rows` (a table with its condition), at most one more than a status shows. */
const statusRowsSql = (rows: string, order = ''): string =>
  `(SELECT * FROM ${rows} ${order && `ORDER BY ${order}`} LIMIT ${MAX_STATUS_NAMES + 1})`

const readProgress = prepareStatement<TxProgress>(
  (l) => `SELECT concat_ws(' ', p.bids, p.facts, p.sent, p.paid, p.tracked) AS records,
      p.bids + p.facts > 0 OR p.sent IS NOT NULL OR p.paid IS NOT NULL AS is_known
    FROM unnest($1::int8[], $2::bytea[]) WITH ORDINALITY AS i(tx_key, tx, ord)
    CROSS JOIN LATERAL (SELECT
      (SELECT count(*) FROM ${statusRowsSql(`${l.names} n WHERE n.network = ${l.network} AND n.tx_key = i.tx_key`)} n) AS bids,
      (SELECT count(*) FROM ${statusRowsSql(`facts f WHERE f.network = ${l.network} AND f.tx_hash = i.tx`)} f) AS facts,
      (SELECT string_agg(concat_ws('/', m.confirmed, r.confirmed, r.bids), ',' ORDER BY m.log_index)
        FROM ${statusRowsSql(`messages m WHERE m.network = ${l.network} AND m.tx_hash = i.tx`, 'log_index')} m ${joinReceiptSql(l, 'm.guid')}) AS sent,
      (SELECT string_agg(concat_ws('/', p.state, p.verdict, p.outcome, r.confirmed), ',' ORDER BY p.sequence)
        FROM ${statusRowsSql(`payments p WHERE p.network = ${l.network} AND p.tx = i.tx`, 'sequence')} p ${joinReceiptSql(l, 'p.id')}) AS paid,
      (SELECT concat_ws('/', t.verdict, encode(t.replaced_by, 'hex'))
        FROM tracked_txs t WHERE t.network = ${l.network} AND t.hash = i.tx) AS tracked
    ) p ORDER BY i.ord`,
)

/** Progress of transactions by hash or signature: one element per input, in the same order. */
export const readTxProgress = (
  db: Queryable,
  network: Network,
  txs: readonly Buffer[],
): Promise<TxProgress[]> =>
  readProgress(
    db,
    network,
    txs.map((tx) => txKeyOfHash(tx).toString()),
    txs,
  )
