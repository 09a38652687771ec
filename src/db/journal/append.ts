import type pg from 'pg'
import { LoopStageTimer } from '../../ops/stages.js'
import { foldEntriesToRows, rowKeysOfEntries } from '../../registry/fold/index.js'
import type {
  ClusterRow,
  CommunityNameRow,
  CommunityRow,
  JournalRow,
  MovedName,
  NameMoveRow,
  NameRow,
  RowChanges,
  WalletRow,
} from '../../registry/fold/rows.js'
import { BID_OUTCOME } from '../../registry/journal/bid.js'
import type { DecodedEntry } from '../../registry/journal/decode.js'
import { ENTRY_KIND } from '../../registry/journal/entry.js'
import type { Network } from '../../registry/primitives/network.js'
import {
  type ArrayColumns,
  columnsFromProperties,
  insertRows,
  propertyArrays,
  unnestSql,
} from '../pg/arrays.js'
import { copyRows, MIN_COPY_ROWS } from '../pg/copyRows.js'
import { inPipeline } from '../pg/pipeline.js'
import { execute, prepared, type Queryable, type Statement } from '../pg/rows.js'
import { journalTimeMs, type LockedJournalHead, lockJournalHead, writeJournalHead } from './head.js'
import { type PartitionedTable, partitionName } from './partitions.js'
import { findRowsOfKeys, loadRegistryRowsOfBatch, type RowsFoundByKeys } from './slice.js'

/** Result of an append: the fold's changes, and the writer's clock that limited their timestamps, Unix ms. */
export interface AppendedChanges {
  changes: RowChanges
  writerMs: number
}

export interface AppendOptions {
  /** Epoch of the indexing leader. Absent for a rebuild, which needs no leader. */
  epoch?: number
  /**
   * Writer's clock, Unix ms, which limits the timestamps of the new entries (`foldEntriesToRows`). Default: the
   * database's time. A rebuild passes Infinity, so that it keeps the old timestamps.
   */
  writerMs?: number
}

/**
 * Appends entries to a network's journal in the caller's transaction: locks the head, loads the rows that the entries
 * read, folds, and writes.
 * @throws LostLeadershipError when another process leads; without `writerMs`, ClockError when this process's clock is
 * wrong
 */
export async function appendEntries(
  client: pg.ClientBase,
  network: Network,
  entries: readonly DecodedEntry[],
  options: AppendOptions,
): Promise<AppendedChanges> {
  const [head, probed] = await inPipeline(client, (db) => [
    lockJournalHead(db, network, options.epoch ?? null),
    findRowsOfEntries(db, network, entries),
  ])
  const decided = await foldEntries(client, network, { entries, head, probed, ...options })
  await writeFoldedBatch(client, network, decided.changes)
  return decided
}

/** Reads the rows that the keys of entries refer to. Sent in one pipeline after the lock of the journal's head. */
export const findRowsOfEntries = (
  db: Queryable,
  network: Network,
  entries: readonly DecodedEntry[],
): Promise<RowsFoundByKeys> => findRowsOfKeys(db, network, rowKeysOfEntries(entries))

/** Entries to fold while the head is locked, and the rows that `findRowsOfEntries` found for them (`probed`). */
interface EntriesToFold extends Pick<AppendOptions, 'writerMs'> {
  entries: readonly DecodedEntry[]
  head: LockedJournalHead
  probed: RowsFoundByKeys
  /** Clock that measures the stages of the calling indexer's loop. */
  stages?: LoopStageTimer
}

/**
 * Loads the rows that the entries read, and folds the entries. Used for entries from chains, for moves of names and for
 * rebuilds. Signed changes and mirrors fold in their own way.
 * @throws ClockError where `writerMs` is not given and this process's clock is wrong
 */
export async function foldEntries(
  client: pg.ClientBase,
  network: Network,
  {
    entries,
    head,
    probed,
    writerMs = entries.length === 0 ? head.nowMs : journalTimeMs(head),
    stages = new LoopStageTimer(),
  }: EntriesToFold,
): Promise<AppendedChanges> {
  const slice = await loadRegistryRowsOfBatch(client, { network, head }, probed)
  const changes = stages.work('fold', () => foldEntriesToRows(slice, entries, writerMs))
  return { changes, writerMs }
}

/**
 * Writes the rows of a fold and moves the locked head. The statements of `others` run in the same pipeline, after
 * these. For a batch of many entries, COPY writes most new rows before the pipeline.
 */
export async function writeFoldedBatch(
  client: pg.ClientBase,
  network: Network,
  changes: RowChanges,
  others: (db: Queryable) => readonly Promise<unknown>[] = () => [],
): Promise<void> {
  // no COPY in a batch with removals: COPY would run first, and a removed wallet may be listed again in the same batch
  const isCopied = changes.journal.length >= MIN_COPY_ROWS && changes.walletRemovals.length === 0
  if (isCopied)
    for (const { table, columns, items } of rowsOfFrequentTables(changes))
      await copyRows(client, network, { table: partitionName(table, network), columns, items })
  await inPipeline(client, (db) => [
    ...writeRowChanges(db, network, changes, { isCopied }),
    ...others(db),
  ])
}

/**
 * Writes the rows of a fold and advances the locked head. The caller runs it in a pipeline. Writes nothing for a fold
 * without entries.
 * @param isCopied true if COPY has written the rows of `rowsOfFrequentTables` already
 */
export function writeRowChanges(
  db: Queryable,
  network: Network,
  changes: RowChanges,
  { isCopied } = { isCopied: false },
): Promise<unknown>[] {
  const ifAny = <Row>(
    rows: Row[],
    write: (db: Queryable, network: Network, rows: Row[]) => Promise<unknown>,
  ) => (rows.length > 0 ? [write(db, network, rows)] : [])
  if (changes.journal.length === 0) return []
  return [
    ...ifAny(changes.walletRemovals, removeWallets),
    ...ifAny(changes.movesEnded, deleteEndedNameMoves),
    ...ifAny(changes.communityNamesFreed, deleteFreedCommunityNames),
    ...insertNewRows(db, network, changes, isCopied),
    ...ifAny(changes.walletUpdates, updateWallets),
    ...ifAny(changes.nameMoves, moveNames),
    ...ifAny(changes.communities, markCommunities),
    writeJournalHead(db, network, changes.head),
  ]
}

/** Rows to insert into one table. The item type is `never`, so that one list can hold rows of several tables. */
interface NewRows {
  table: PartitionedTable
  columns: ArrayColumns<never>
  items: readonly never[]
}

const createNewRows = <Item>(
  table: PartitionedTable,
  columns: ArrayColumns<Item>,
  items: readonly Item[],
): NewRows => ({ table, columns, items: items as readonly never[] })

/** New rows of the tables that many entries of a batch write. */
const rowsOfFrequentTables = (changes: RowChanges): NewRows[] => [
  createNewRows(
    'journal',
    [['generation', 'int4', () => changes.head.generation], ...JOURNAL_COLUMNS],
    changes.journal,
  ),
  createNewRows('names', NAME_COLUMNS, changes.names),
  createNewRows('clusters', CLUSTER_COLUMNS, changes.clusters),
  createNewRows('wallets', WALLET_COLUMNS, changes.wallets),
]

/** New rows of the tables that few entries of a batch write. */
const rowsOfRareTables = (changes: RowChanges): NewRows[] => [
  createNewRows('communities', COMMUNITY_COLUMNS, changes.communities),
  createNewRows('community_names', COMMUNITY_NAME_COLUMNS, changes.communityNames),
  createNewRows('moves', MOVE_COLUMNS, changes.moves),
]

const insertNewRows = (
  db: Queryable,
  network: Network,
  changes: RowChanges,
  isCopied: boolean,
): Promise<unknown>[] =>
  [...(isCopied ? [] : rowsOfFrequentTables(changes)), ...rowsOfRareTables(changes)].map(
    ({ table, ...rows }) =>
      insertRows(db, network, { table: partitionName(table, network), ...rows }),
  )

const JOURNAL_COLUMNS: ArrayColumns<JournalRow> = [
  ...columnsFromProperties<JournalRow>('int8', 'seq', 'txKey', 'atMs', 'publicFirst'),
  ...columnsFromProperties<JournalRow>('int4', 'publicCount'),
  ...columnsFromProperties<JournalRow>('bytea', 'actor', 'body', 'effects'),
  ['kind', 'int2', (row) => ENTRY_KIND[row.kind]],
  ['chain', 'int2', (row) => row.position?.chain],
  ['block', 'int8', (row) => row.position?.block],
  ['log_index', 'int4', (row) => row.position?.logIndex],
  ['ruleset', 'int2', (row) => row.ruleset],
]
const NAME_COLUMNS: ArrayColumns<NameRow> = [
  ...columnsFromProperties<NameRow>('int8', 'seq', 'txKey', 'cluster'),
  ...columnsFromProperties<NameRow>('text', 'name'),
  ['outcome', 'int2', (row) => BID_OUTCOME[row.outcome]],
  ['updated_seq', 'int8', (row) => row.seq],
]
const CLUSTER_COLUMNS = [
  ...columnsFromProperties<ClusterRow>('int8', 'serial', 'createdSeq'),
  ...columnsFromProperties<ClusterRow>('bytea', 'id'),
]
const WALLET_COLUMNS: ArrayColumns<WalletRow> = [
  ...columnsFromProperties<WalletRow>('int8', 'cluster', 'createdSeq', 'updatedSeq', 'evidenceSeq'),
  ...columnsFromProperties<WalletRow>('bytea', 'address'),
  ...columnsFromProperties<WalletRow>('text', 'name'),
  ['verified', 'bool', (row) => row.isVerified],
  ['private', 'bool', (row) => row.isPrivate],
  ['backed_up', 'bool', (row) => row.isBackedUp],
]
const COMMUNITY_COLUMNS = [
  ...columnsFromProperties<CommunityRow>('text', 'name'),
  ...columnsFromProperties<CommunityRow>('int8', 'seq'),
]
const COMMUNITY_NAME_COLUMNS: ArrayColumns<CommunityNameRow> = [
  ...columnsFromProperties<CommunityNameRow>('text', 'community', 'name'),
  ...columnsFromProperties<CommunityNameRow>('bytea', 'address', 'claim'),
  ...columnsFromProperties<CommunityNameRow>('int8', 'assigned', 'seq'),
  ['verified', 'bool', (row) => row.isVerified],
]
const MOVE_COLUMNS = [
  ...columnsFromProperties<NameMoveRow>('int8', 'source', 'target', 'seq'),
  ...columnsFromProperties<NameMoveRow>('bytea', 'actor'),
]

const WALLET_UNNEST_SQL = unnestSql(WALLET_COLUMNS, 2)

async function updateWallets(
  db: Queryable,
  network: Network,
  rows: readonly WalletRow[],
): Promise<void> {
  const text = `UPDATE ${partitionName('wallets', network)} w SET ${WALLET_UNNEST_SQL.set('u')} FROM ${WALLET_UNNEST_SQL.rows} AS u(${WALLET_UNNEST_SQL.names})
    WHERE w.network = $1 AND w.cluster = u.cluster AND w.address = u.address`
  await execute(db, network, prepared(text), WALLET_UNNEST_SQL.values(rows))
}

/** Makes a function that runs a statement on rows. From `$2` on, its parameters are arrays, one for each property. */
const createRowWriter =
  <Row>(text: (network: Network) => Statement, ...properties: (keyof Row)[]) =>
  (db: Queryable, network: Network, rows: readonly Row[]): Promise<number> =>
    execute(db, network, text(network), propertyArrays(rows, ...properties))

const removeWallets = createRowWriter<RowChanges['walletRemovals'][number]>(
  (network) =>
    prepared(`DELETE FROM ${partitionName('wallets', network)} w USING unnest($2::int8[], $3::bytea[]) AS u(cluster, address)
    WHERE w.network = $1 AND w.cluster = u.cluster AND w.address = u.address`),
  'cluster',
  'address',
)

const deleteFreedCommunityNames = createRowWriter<RowChanges['communityNamesFreed'][number]>(
  (
    network,
  ) => `DELETE FROM ${partitionName('community_names', network)} n USING unnest($2::text[], $3::text[]) AS u(community, name)
    WHERE n.network = $1 AND n.community = u.community AND n.name = u.name`,
  'community',
  'name',
)

async function moveNames(
  db: Queryable,
  network: Network,
  moves: readonly MovedName[],
): Promise<void> {
  const text = `UPDATE ${partitionName('names', network)} n SET cluster = u.cluster, updated_seq = u.updated_seq
    FROM unnest($2::text[], $3::int8[], $4::int8[]) AS u(name, cluster, updated_seq)
    WHERE n.network = $1 AND n.name = u.name COLLATE "C" AND n.outcome = ${BID_OUTCOME.won}`
  // a batch may move the same name twice
  const newest = [...new Map(moves.map((move) => [move.name, move])).values()]
  // unnamed statement: on tables without statistics, a generic plan for any number of names scans the whole table
  await execute(db, network, text, propertyArrays(newest, 'name', 'cluster', 'updatedSeq'))
}

async function deleteEndedNameMoves(
  db: Queryable,
  network: Network,
  sources: RowChanges['movesEnded'],
): Promise<void> {
  await execute(
    db,
    network,
    `DELETE FROM ${partitionName('moves', network)} WHERE network = $1 AND source = ANY ($2::int8[])`,
    [sources],
  )
}

/**
 * Marks the names that are communities, so that a cluster's communities are found among its many names. The mark
 * repeats what the table `communities` says, so it is not part of the state hash.
 */
const markCommunities = createRowWriter<CommunityRow>(
  (network) => `UPDATE ${partitionName('names', network)} SET community = true
    WHERE network = $1 AND name = ANY ($2::text[]) AND outcome = ${BID_OUTCOME.won} AND NOT community`,
  'name',
)
