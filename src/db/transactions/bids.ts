import {
  BID_OFFSETS,
  BID_OUTCOME,
  bidNameWord,
  bidTxHash,
  decodeBid,
} from '../../registry/journal/bid.js'
import { decodeBidEffects, OUTCOME_OFFSET } from '../../registry/journal/effects.js'
import { ENTRY_KIND } from '../../registry/journal/entry.js'
import { mapKey, toHex, txKeyOfHash } from '../../registry/primitives/bytes.js'
import { nameWordText } from '../../registry/primitives/name.js'
import type { Network } from '../../registry/primitives/network.js'
import {
  type Confirmations,
  type JournalledBid,
  MAX_STATUS_NAMES,
  type UnconfirmedBid,
} from '../../registry/status.js'
import { blockConfirmations } from '../bridge/receipts.js'
import type { Fact, Journal } from '../generated/client.js'
import { bidAmountSql } from '../journal/bidAmount.js'
import {
  journalEntrySql,
  type PartitionNames,
  prepareSingleRow,
  prepareStatement,
} from '../journal/partitions.js'
import { propertyArrays } from '../pg/arrays.js'
import { type DecodedRow, existsRowSql, type Queryable } from '../pg/rows.js'
import { readDistinctInputs } from '../registry/lookups.js'
import { findWinningBids } from '../registry/owners.js'

/**
 * The first bids of a transaction, in log order, with sums over all of its bids. A contract can make thousands of bids
 * in one transaction, so at most `MAX_STATUS_NAMES` of the bids are read.
 */
interface BidsOfTx<Bid> {
  bids: Bid[]
  /** Number of the transaction's bids after `bids`. */
  more: number
  block: number
  /** Sum of all bids, wei. */
  amountWei: bigint
  /** Time of the newest bid, Unix ms. */
  atMs: number
}

/** Number of rows to read: one more than a status shows, since the last row shows that there are more bids. */
const BID_ROW_LIMIT = MAX_STATUS_NAMES + 1

const AMOUNT_SUM_SQL = `sum(${bidAmountSql('body')}) AS amount_wei`

/** The bids of a transaction that is in the journal. */
export interface JournalledTx extends BidsOfTx<JournalledBid> {
  /** True if every bid won its name. */
  hasWonAll: boolean
  /**
   * Stored address of the bidder of the first bid that won. Null while no bid has won: bidders that won nothing may be
   * private.
   */
  winner: Buffer | null
}

interface JournalledBidRow extends Pick<DecodedRow<Journal>, 'atMs' | 'body' | 'effects'> {
  ord: number
  chain: number
  block: number
  logIndex: number
}

const TX_HASH_SQL = `substring(body FROM ${BID_OFFSETS.txHash + 1} FOR 32)`
const HAS_WON_SQL = `get_byte(effects, ${OUTCOME_OFFSET}) = ${BID_OUTCOME.won}`

/**
 * SQL: the bids of a block of a chain, for a query with the head `h`. The index of chain, block and log index finds and
 * orders the bids.
 */
const bidsOfBlockSql = (l: PartitionNames, chain: string, block: string): string =>
  `SELECT chain, block, log_index, at_ms, body, effects FROM ${l.journal}
   WHERE network = ${l.network} AND generation = h.generation AND chain = ${chain} AND block = ${block}
     AND kind = ${ENTRY_KIND.bid}`

// the numbers of a transaction's entries are sorted before any entry is read, so that LIMIT ends the reads
const readJournalledRows = prepareStatement<JournalledBidRow>(
  (
    l,
  ) => `SELECT i.ord, j.* FROM unnest($1::int8[], $2::bytea[]) WITH ORDINALITY AS i(tx_key, hash, ord)
    JOIN journal_heads h ON h.network = ${l.network}
    CROSS JOIN LATERAL (
      SELECT j.chain, j.block, j.log_index, j.at_ms, j.body, j.effects FROM (
        SELECT seq FROM ${l.names} WHERE network = ${l.network} AND tx_key = i.tx_key ORDER BY seq OFFSET 0
      ) n
      CROSS JOIN LATERAL (${journalEntrySql(l, 'h.generation', 'n.seq')}) j
      WHERE ${TX_HASH_SQL} = i.hash ORDER BY n.seq LIMIT ${BID_ROW_LIMIT}
    ) j
    ORDER BY i.ord, j.log_index`,
)

/** Figures over all bids of a transaction, not only over the bids that are read. */
interface BidTotals extends Pick<JournalledTx, 'amountWei' | 'atMs' | 'hasWonAll'> {
  count: number
  /** Body of the first bid that won. */
  firstWon: Buffer | null
}

const readTotalsInJournal = prepareSingleRow<BidTotals>(
  (
    l,
  ) => `SELECT s.count, s.amount_wei, s.at_ms, s.has_won_all, w.body AS first_won FROM journal_heads h
    CROSS JOIN LATERAL (
      SELECT count(*) AS count, ${AMOUNT_SUM_SQL}, max(at_ms) AS at_ms, bool_and(${HAS_WON_SQL}) AS has_won_all,
        min(log_index) FILTER (WHERE ${HAS_WON_SQL}) AS won_at
      FROM (${bidsOfBlockSql(l, '$2', '$3')}) j WHERE ${TX_HASH_SQL} = $1
    ) s
    LEFT JOIN LATERAL (${bidsOfBlockSql(l, '$2', '$3')} AND log_index = s.won_at) w ON true
    WHERE h.network = ${l.network}`,
)

/**
 * Journalled bids of transactions by hash: one element per hash, in the same order. Null where a transaction has no
 * bid.
 */
export const findJournalledTxs = (
  db: Queryable,
  network: Network,
  hashes: readonly Buffer[],
): Promise<(JournalledTx | null)[]> =>
  readDistinctInputs(hashes, mapKey, (distinct) => readJournalledTxs(db, network, distinct))

async function readJournalledTxs(db: Queryable, network: Network, hashes: readonly Buffer[]) {
  const journalledRows = await readJournalledRows(
    db,
    network,
    hashes.map((hash) => txKeyOfHash(hash).toString()),
    hashes,
  )
  const rowsOf = hashes.map((): JournalledBidRow[] => [])
  for (const row of journalledRows) rowsOf[row.ord - 1]!.push(row)
  const txs: (JournalledTx & { ord: number })[] = []
  for (const [i, hash] of hashes.entries()) {
    const rows = rowsOf[i]!
    const totals =
      rows.length < BID_ROW_LIMIT
        ? totalsOf(rows)
        : await readJournalledTotals(db, network, hash, rows)
    // `totals` is null where the transaction has no bid, and where a rewind removed its bids between the statements
    if (totals) txs.push({ ord: i + 1, ...journalledTxFromRows(rows, totals) })
  }
  await addWinningBids(
    db,
    network,
    txs.flatMap(({ bids }) => bids),
  )
  return txs
}

async function readJournalledTotals(
  db: Queryable,
  network: Network,
  hash: Buffer,
  rows: readonly JournalledBidRow[],
): Promise<BidTotals | null> {
  const { chain, block } = rows[0]!
  const totals = await readTotalsInJournal(db, network, hash, chain, block)
  return totals && totals.count > 0 ? totals : null
}

function journalledTxFromRows(rows: readonly JournalledBidRow[], totals: BidTotals): JournalledTx {
  const { count, firstWon, ...sums } = totals
  const bids = rows.slice(0, MAX_STATUS_NAMES).map(journalledBidFromRow)
  const winner = firstWon && decodeBid(firstWon).wallet
  return { bids, more: count - bids.length, block: rows[0]!.block, winner, ...sums }
}

function totalsOf(rows: readonly JournalledBidRow[]): BidTotals | null {
  if (rows.length === 0) return null
  const won = rows.filter(({ effects }) => decodeBidEffects(effects).outcome === 'won')
  return {
    count: rows.length,
    amountWei: amountOfBids(rows),
    atMs: Math.max(...rows.map(({ atMs }) => atMs)),
    hasWonAll: won.length === rows.length,
    firstWon: won[0]?.body ?? null,
  }
}

const amountOfBids = (rows: readonly { body: Buffer }[]): bigint =>
  rows.reduce((sum, { body }) => sum + decodeBid(body).amountWei, 0n)

/** Sets the `winner` of each lost bid: amount and transaction of the bid that won the name. */
async function addWinningBids(
  db: Queryable,
  network: Network,
  bids: readonly JournalledBid[],
): Promise<void> {
  const lost = bids.filter(({ outcome }) => outcome === 'lost')
  const bodies = await findWinningBids(db, network, [...new Set(lost.map(({ name }) => name))])
  for (const bid of lost) {
    const body = bodies.get(bid.name)
    if (!body) continue
    const amountWei = decodeBid(body).amountWei.toString()
    bid.winner = { amountWei, tx: toHex(bidTxHash(body)) }
  }
}

function journalledBidFromRow({
  logIndex,
  body,
  effects,
}: Pick<JournalledBidRow, 'logIndex' | 'body' | 'effects'>): JournalledBid {
  const decoded = decodeBidEffects(effects)
  const bid: JournalledBid = {
    logIndex,
    name: nameWordText(bidNameWord(body)),
    outcome: decoded.outcome,
  }
  return decoded.outcome === 'refused' ? { ...bid, reason: decoded.reason } : bid
}

/**
 * The hub's log that it received a message. The message's bids are the last Bid logs before it, in the same
 * transaction.
 */
export interface HubReceipt {
  txHash: Buffer
  block: number
  logIndex: number
  /** How many of these Bid logs to read, from the last one backwards. */
  bids: number
}

const RECEIPT_INPUTS_SQL =
  'unnest($1::bytea[], $2::int8[], $3::int4[], $4::int4[]) WITH ORDINALITY AS i(hash, block, before, bids, ord)'

const readJournalledRowsOfReceipts = prepareStatement<JournalledBidRow>(
  (
    l,
  ) => `SELECT i.ord, j.* FROM ${RECEIPT_INPUTS_SQL} JOIN journal_heads h ON h.network = ${l.network}
    CROSS JOIN LATERAL (
      ${bidsOfBlockSql(l, '$5', 'i.block')} AND log_index < i.before ORDER BY log_index DESC LIMIT i.bids
    ) j
    WHERE ${TX_HASH_SQL} = i.hash ORDER BY i.ord, j.log_index`,
)

/**
 * Journalled bids of messages: a list per receipt, in log order.
 * @param hub number of the network's hub chain
 */
export async function findJournalledBidsOfHubReceipts(
  db: Queryable,
  network: Network,
  hub: number,
  receipts: readonly HubReceipt[],
): Promise<JournalledBid[][]> {
  const bids = receipts.map((): JournalledBid[] => [])
  if (receipts.length === 0) return bids
  for (const row of await readJournalledRowsOfReceipts(
    db,
    network,
    ...propertyArrays(receipts, 'txHash', 'block', 'logIndex', 'bids'),
    hub,
  ))
    bids[row.ord - 1]!.push(journalledBidFromRow(row))
  await addWinningBids(db, network, bids.flat())
  return bids
}

/** The bids of a transaction that is in an unconfirmed block of the hub. */
export interface UnconfirmedTx extends BidsOfTx<UnconfirmedBid> {
  confirmations: Confirmations
}

interface UnconfirmedBidRow
  extends Pick<DecodedRow<Fact>, 'logIndex' | 'block' | 'causeMs' | 'body'> {
  ord: number
  leads: boolean
  latest: number | null
  nextBlock: number
}

/**
 * SQL: unconfirmed bids from rows `f` of `facts`. Each row has the number `ord` of the transaction or receipt asked
 * for.
 */
const unconfirmedBidsSql = (l: PartitionNames, bids: string): string =>
  `SELECT f.ord, f.log_index, f.block, f.cause_ms, f.body, c.next_block,
      (SELECT max(t.block) FROM tail_blocks t WHERE t.network = ${l.network} AND t.chain = f.chain) AS latest,
      f.name IS NOT NULL
        AND NOT ${existsRowSql(`${l.names} n WHERE n.network = ${l.network} AND n.name = f.name AND n.outcome = ${BID_OUTCOME.won}`)}
        AND NOT ${existsRowSql(`facts e WHERE e.network = ${l.network} AND e.chain = f.chain AND e.name = f.name
            AND (e.block, e.log_index) < (f.block, f.log_index)`)} AS leads
    FROM (${bids}) f JOIN chains c ON c.network = ${l.network} AND c.chain = f.chain
    ORDER BY f.ord, f.block, f.log_index`

const factsOfTxSql = (l: PartitionNames): string =>
  `FROM facts WHERE network = ${l.network} AND tx_hash = $1 AND chain = $2 AND kind = ${ENTRY_KIND.bid}`
const factsOfBlockSql = (l: PartitionNames, chain: string, hash: string): string =>
  `SELECT * FROM facts WHERE network = ${l.network} AND chain = ${chain} AND block_hash = ${hash} AND kind = ${ENTRY_KIND.bid}`

const readTailRows = prepareStatement<UnconfirmedBidRow>((l) =>
  unconfirmedBidsSql(
    l,
    `SELECT 1 AS ord, f.* FROM (SELECT block_hash ${factsOfTxSql(l)} LIMIT 1) one
     CROSS JOIN LATERAL (
       ${factsOfBlockSql(l, '$2', 'one.block_hash')} AND tx_hash = $1 ORDER BY log_index LIMIT ${BID_ROW_LIMIT}
     ) f`,
  ),
)

const readTotalsInTail = prepareSingleRow<Pick<BidTotals, 'count' | 'amountWei'>>(
  (l) => `SELECT count(*) AS count, ${AMOUNT_SUM_SQL} ${factsOfTxSql(l)}`,
)

/**
 * Bids of a transaction in the hub's unconfirmed blocks. Null where it has none there. A bid leads if its name is free
 * and no earlier unconfirmed bid may win the name.
 * @param hub number of the network's hub chain: only its bids decide who gets a name
 */
export async function findUnconfirmedTx(
  db: Queryable,
  network: Network,
  hub: number,
  hash: Buffer,
): Promise<UnconfirmedTx | null> {
  const rows = await readTailRows(db, network, hash, hub)
  const first = rows[0]
  if (!first) return null
  const counted =
    rows.length < BID_ROW_LIMIT ? null : await readTotalsInTail(db, network, hash, hub)
  const bids = rows.slice(0, MAX_STATUS_NAMES).map(unconfirmedBidFromRow)
  return {
    bids,
    // a reorg may have removed the transaction since the first statement
    more: Math.max(0, (counted?.count ?? 0) - bids.length),
    block: first.block,
    confirmations: blockConfirmations(first.block, first),
    atMs: first.causeMs,
    amountWei: counted?.amountWei ?? amountOfBids(rows),
  }
}

const unconfirmedBidFromRow = ({
  logIndex,
  block,
  body,
  leads,
}: UnconfirmedBidRow): UnconfirmedBid => ({
  logIndex,
  block,
  name: nameWordText(bidNameWord(body)),
  leads,
})

const readTailRowsOfReceipts = prepareStatement<UnconfirmedBidRow>((l) =>
  unconfirmedBidsSql(
    l,
    `SELECT i.ord, f.* FROM ${RECEIPT_INPUTS_SQL}
     JOIN tail_blocks t ON t.network = ${l.network} AND t.chain = $5 AND t.block = i.block
     CROSS JOIN LATERAL (
       ${factsOfBlockSql(l, '$5', 't.hash')} AND log_index < i.before ORDER BY log_index DESC LIMIT i.bids
     ) f WHERE f.tx_hash = i.hash`,
  ),
)

/** Like `findJournalledBidsOfHubReceipts`, for messages that the hub received in unconfirmed blocks. */
export async function findUnconfirmedBidsOfReceipts(
  db: Queryable,
  network: Network,
  hub: number,
  receipts: readonly HubReceipt[],
): Promise<{ bids: UnconfirmedBid[]; confirmations: Confirmations }[]> {
  const results = receipts.map(() => ({
    bids: [] as UnconfirmedBid[],
    confirmations: { have: 0, need: 0 },
  }))
  if (receipts.length === 0) return results
  for (const row of await readTailRowsOfReceipts(
    db,
    network,
    ...propertyArrays(receipts, 'txHash', 'block', 'logIndex', 'bids'),
    hub,
  )) {
    const result = results[row.ord - 1]!
    result.bids.push(unconfirmedBidFromRow(row))
    result.confirmations = blockConfirmations(row.block, row)
  }
  return results
}
