import type { InvalidReason } from '../../registry/invalidReasons.js'
import { bidNameWord, bidTxHash, decodeBid } from '../../registry/journal/bid.js'
import { decodeBidEffects } from '../../registry/journal/effects.js'
import { ENTRY_KIND } from '../../registry/journal/entry.js'
import { toHex, txKeyOfHash } from '../../registry/primitives/bytes.js'
import { nameWordText } from '../../registry/primitives/name.js'
import type { Network } from '../../registry/primitives/network.js'
import type {
  Confirmations,
  JournalledBid,
  UnconfirmedBid,
  WinningBid,
} from '../../registry/status.js'
import type { Fact, Journal, TrackedTx as StoredTx } from '../generated/client.js'
import { WON_BID_OUTCOME } from '../pg/codes.js'
import {
  journalEntrySql,
  type PartitionNames,
  prepareSingleRow,
  prepareStatement,
} from '../pg/prepared.js'
import { blockConfirmations } from '../pg/receipts.js'
import { type DecodedRow, execute, existsRowSql, prepared, type Queryable } from '../pg/rows.js'

/** Journalled bids of a transaction, with their block and the newest timestamp of their entries. */
export interface JournalledTx {
  bids: JournalledBid[]
  block: number
  atMs: number
  /** Sum of the bids, wei. */
  amountWei: bigint
  /**
   * Stored address of the first bidder that won a name; null while no bid has won, since the other bidders may be
   * private.
   */
  winner: Buffer | null
}

interface JournalledRow extends Pick<DecodedRow<Journal>, 'atMs' | 'body' | 'effects'> {
  ord: number
  block: number
  logIndex: number
}

const journalled = prepareStatement<JournalledRow>(
  (l) => `SELECT i.ord, j.block, j.log_index, j.at_ms, j.body, j.effects
    FROM unnest($1::int8[], $2::bytea[]) WITH ORDINALITY AS i(tx_key, hash, ord)
    CROSS JOIN LATERAL (
      SELECT n.seq, j.block, j.log_index, j.at_ms, j.body, j.effects
      FROM ${l.names} n
      JOIN journal_heads h ON h.network = ${l.network}
      CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'n.seq')}) j
      WHERE n.network = ${l.network} AND n.tx_key = i.tx_key AND substring(j.body FROM 1 FOR 32) = i.hash
      -- ORDER BY keeps the planner from joining whole tables
      ORDER BY n.seq
    ) j
    ORDER BY i.ord, j.seq`,
)

/**
 * Journalled bids of transactions by hash: one element per hash, in the same order. Null where a transaction has no
 * bid.
 */
export async function findJournalledTxs(
  db: Queryable,
  network: Network,
  hashes: readonly Buffer[],
): Promise<(JournalledTx | null)[]> {
  const rows = await journalled(db, network, [
    hashes.map((hash) => txKeyOfHash(hash).toString()),
    hashes,
  ])
  const found = hashes.map((): JournalledTx | null => null)
  for (const row of rows) {
    const earlier = found[row.ord - 1]
    const bid = asBid(row)
    const bids = earlier?.bids ?? []
    bids.push(bid)
    const { wallet, amountWei } = decodeBid(row.body)
    found[row.ord - 1] = {
      bids,
      block: row.block,
      atMs: row.atMs,
      amountWei: (earlier?.amountWei ?? 0n) + amountWei,
      winner: earlier?.winner ?? (bid.outcome === 'won' ? wallet : null),
    }
  }
  const lost = found.flatMap((tx) => tx?.bids.filter(({ outcome }) => outcome === 'lost') ?? [])
  if (lost.length > 0) await addWinners(db, network, lost)
  return found
}

const winning = prepareStatement<{ name: string; body: Buffer }>(
  (l) => `SELECT n.name, j.body FROM unnest($1::text[]) AS i(name)
    CROSS JOIN LATERAL (
      SELECT n.name, n.seq FROM ${l.names} n
      WHERE n.network = ${l.network} AND n.name = i.name AND n.outcome = ${WON_BID_OUTCOME} LIMIT 1
    ) n
    JOIN journal_heads h ON h.network = ${l.network}
    CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'n.seq')}) j`,
)

async function addWinners(
  db: Queryable,
  network: Network,
  lost: readonly JournalledBid[],
): Promise<void> {
  const rows = await winning(db, network, [[...new Set(lost.map(({ name }) => name))]])
  const won = new Map(rows.map(({ name, body }) => [name, winnerOf(body)]))
  for (const bid of lost) {
    const winner = won.get(bid.name)
    if (winner) bid.winner = winner
  }
}

const winnerOf = (body: Buffer): WinningBid => ({
  amountWei: decodeBid(body).amountWei.toString(),
  tx: toHex(bidTxHash(body)),
})

function asBid({ logIndex, body, effects }: JournalledRow): JournalledBid {
  const decoded = decodeBidEffects(effects)
  const bid: JournalledBid = {
    logIndex,
    name: nameWordText(bidNameWord(body)),
    outcome: decoded.outcome,
  }
  return decoded.outcome === 'refused' ? { ...bid, reason: decoded.reason } : bid
}

/** Bids of a transaction in the hub's unconfirmed blocks, with the depth of the first bid's block. */
export interface UnconfirmedTx {
  bids: UnconfirmedBid[]
  confirmations: Confirmations
  /** Time of the block, ms. */
  atMs: number
  /** Sum of the bids, wei. */
  amountWei: bigint
}

interface TailRow extends Pick<DecodedRow<Fact>, 'logIndex' | 'block' | 'causeMs' | 'body'> {
  leads: boolean
  latest: number | null
  nextBlock: number
}

const inTail = prepareStatement<TailRow>(
  (l) => `SELECT f.log_index, f.block, f.cause_ms, f.body, c.next_block,
      (SELECT max(t.block) FROM tail_blocks t WHERE t.network = ${l.network} AND t.chain = f.chain) AS latest,
      f.name IS NOT NULL
        AND NOT ${existsRowSql(`${l.names} n WHERE n.network = ${l.network} AND n.name = f.name AND n.outcome = 1`)}
        AND NOT ${existsRowSql(`facts e WHERE e.network = ${l.network} AND e.chain = f.chain AND e.name = f.name
            AND (e.block, e.log_index) < (f.block, f.log_index)`)} AS leads
    FROM facts f JOIN chains c ON c.network = f.network AND c.chain = f.chain
    WHERE f.network = ${l.network} AND f.tx_hash = $1 AND f.chain = $2 AND f.kind = ${ENTRY_KIND.bid}
    ORDER BY f.block, f.log_index`,
)

/**
 * Bids of a transaction in the hub's unconfirmed blocks, or null. A bid leads when its name is free and no earlier
 * unconfirmed bid may win it.
 * @param hub number of the network's hub chain: only its bids decide who gets a name
 */
export async function findUnconfirmedTx(
  db: Queryable,
  network: Network,
  hub: number,
  hash: Buffer,
): Promise<UnconfirmedTx | null> {
  const rows = await inTail(db, network, [hash, hub])
  const first = rows[0]
  if (!first) return null
  return {
    bids: rows.map(({ logIndex, block, body, leads }) => ({
      logIndex,
      block,
      name: nameWordText(bidNameWord(body)),
      leads,
    })),
    confirmations: blockConfirmations(first.block, first),
    atMs: first.causeMs,
    amountWei: rows.reduce((sum, { body }) => sum + decodeBid(body).amountWei, 0n),
  }
}

/** Data stored about a transaction that a chain has returned at least once. */
export type TrackedTx = Pick<
  DecodedRow<StoredTx>,
  'chain' | 'sender' | 'nonce' | 'lastSeenMs' | 'replacedBy'
> & {
  /** Network label of the chain. */
  label: string
  verdict: InvalidReason | null
}

export const findTrackedTx = prepareSingleRow<TrackedTx, [hash: Buffer]>(
  (l) => `SELECT t.chain, c.label, t.sender, t.nonce, t.last_seen_ms, t.verdict, t.replaced_by
    FROM tracked_txs t JOIN chains c ON c.network = t.network AND c.chain = t.chain
    WHERE t.network = ${l.network} AND t.hash = $1`,
)

const confirmed = prepareStatement<{ chain: number; block: number }>(
  (l) => `SELECT chain, next_block - 1 AS block FROM chains WHERE network = ${l.network}`,
)

/** Newest confirmed block of each chain of a network, by the chain's number in the database. */
export async function readConfirmedBlocks(
  db: Queryable,
  network: Network,
): Promise<ReadonlyMap<number, number>> {
  return new Map((await confirmed(db, network, [])).map(({ chain, block }) => [chain, block]))
}

export type TxSighting = Pick<TrackedTx, 'chain' | 'sender' | 'nonce'> & { seenMs: number }

/** A transaction's `last_seen_ms` is written at most once in this time, ms, since clients may poll every second. */
const SIGHTING_STEP_MS = 10_000

/** Stores that a transaction was seen. Sender and nonce do not change once they are known. */
export async function storeTxSighting(
  db: Queryable,
  network: Network,
  hash: Buffer,
  seen: TxSighting,
): Promise<void> {
  await execute(db, network, REMEMBER, [hash, seen.chain, seen.sender, seen.nonce, seen.seenMs])
}

const REMEMBER =
  prepared(`INSERT INTO tracked_txs AS t (network, hash, chain, sender, nonce, first_seen_ms, last_seen_ms)
    VALUES ($1, $2, $3, $4, $5, $6, $6)
    ON CONFLICT (network, hash) DO UPDATE SET
      sender = coalesce(t.sender, excluded.sender),
      nonce = coalesce(t.nonce, excluded.nonce),
      last_seen_ms = greatest(t.last_seen_ms, excluded.last_seen_ms)
    WHERE excluded.last_seen_ms >= t.last_seen_ms + ${SIGHTING_STEP_MS} OR t.sender IS NULL AND excluded.sender IS NOT NULL`)

/** Stores why a seen transaction is `invalid`, once that is confirmed. The first verdict stays. */
export async function storeInvalidVerdict(
  db: Queryable,
  network: Network,
  hash: Buffer,
  verdict: string,
): Promise<void> {
  const text =
    'UPDATE tracked_txs SET verdict = $3 WHERE network = $1 AND hash = $2 AND verdict IS NULL'
  await execute(db, network, prepared(text), [hash, verdict])
}

/** Stores which transaction replaced a transaction. The first stored replacement stays. */
export async function storeReplacement(
  db: Queryable,
  network: Network,
  hash: Buffer,
  by: Buffer,
): Promise<void> {
  const text =
    'UPDATE tracked_txs SET replaced_by = $3 WHERE network = $1 AND hash = $2 AND replaced_by IS NULL'
  await execute(db, network, prepared(text), [hash, by])
}

/** Summary of the rows that the database has of a transaction. `records` changes with these rows. */
export interface TxProgress {
  records: string
  /** True if logs of our contracts are stored for the transaction. Otherwise only the chains know its state. */
  isKnown: boolean
}

const received = (l: PartitionNames, guid: string): string =>
  `LEFT JOIN received r ON r.network = ${l.network} AND r.guid = ${guid}`

const progress = prepareStatement<TxProgress>(
  (l) => `SELECT concat_ws(' ', p.bids, p.facts, p.sent, p.paid, p.tracked) AS records,
      p.bids + p.facts > 0 OR p.sent IS NOT NULL OR p.paid IS NOT NULL AS is_known
    FROM unnest($1::int8[], $2::bytea[]) WITH ORDINALITY AS i(tx_key, tx, ord)
    CROSS JOIN LATERAL (SELECT
      (SELECT count(*) FROM ${l.names} n WHERE n.network = ${l.network} AND n.tx_key = i.tx_key) AS bids,
      (SELECT count(*) FROM facts f WHERE f.network = ${l.network} AND f.tx_hash = i.tx) AS facts,
      (SELECT string_agg(concat_ws('/', m.confirmed, r.confirmed, r.bids), ',' ORDER BY m.log_index)
        FROM messages m ${received(l, 'm.guid')} WHERE m.network = ${l.network} AND m.tx_hash = i.tx) AS sent,
      (SELECT string_agg(concat_ws('/', p.state, p.verdict, p.outcome, r.confirmed), ',' ORDER BY p.sequence)
        FROM payments p ${received(l, 'p.id')} WHERE p.network = ${l.network} AND p.tx = i.tx) AS paid,
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
  progress(db, network, [txs.map((tx) => txKeyOfHash(tx).toString()), txs])
