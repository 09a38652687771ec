import type pg from 'pg'
import {
  type Changes,
  type ClusterRow,
  type CommunityNameRow,
  type CommunityRow,
  fold,
  type JournalRow,
  keysOf,
  type MoveRow,
  type NameMove,
  type NameRow,
  type WalletRow,
} from '../../registry/fold/index.js'
import { OUTCOME } from '../../registry/journal/bid.js'
import type { DecodedEntry } from '../../registry/journal/decode.js'
import { ENTRY_KIND } from '../../registry/journal/entry.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { unnestOf } from '../pg/arrays.js'
import { WON } from '../pg/codes.js'
import { type CopyBuffer, type CopyPart, copyPart, sendTables } from '../pg/copy.js'
import { leaf } from '../pg/partitions.js'
import { pipelined } from '../pg/pipeline.js'
import { execute, type Queryable, query } from '../pg/rows.js'
import { type LockedHead, lockHead, writeHead, writerTime } from './head.js'
import { makePartitionsAhead } from './partitions.js'
import { completeSlice, loadSlice, type Probed, probeKeys } from './slice.js'
import { STATE_COLUMNS } from './stateHash.js'

/** Result of an append: what it changed, and the time of its writer, ms. */
export interface Appended {
  changes: Changes
  writerMs: number
}

export interface AppendOptions {
  /** Epoch of the indexing leader; absent for signed changes, which need no leader. */
  epoch?: number
  /** Time of the writer, ms: the database's where it is left out; a rebuild keeps the entries' own. */
  writerMs?: number
  /** What `probeEntries` found behind the head's lock; looked up here where it is left out. */
  probed?: Probed
}

/**
 * Appends entries to a network's journal in the caller's transaction: lock the head, load the slice, fold, write.
 * @throws LostLeadershipError when another process leads
 */
export async function appendEntries(
  client: pg.ClientBase,
  network: Network,
  entries: readonly DecodedEntry[],
  options: AppendOptions,
): Promise<Appended> {
  const head = await lockHead(client, network, options.epoch ?? null)
  const decided = await decideEntries(client, network, { entries, head, ...options })
  await pipelined(client, decided.write)
  return decided
}

/** Looks up the keys of entries: in one pipeline with the head's lock, behind it. */
export const probeEntries = (db: Queryable, network: Network, entries: readonly DecodedEntry[]): Promise<Probed> =>
  probeKeys(db, network, keysOf(entries))

/** What a transaction appends, decided behind the head's lock, with the statements that write it. */
export interface Decided extends Appended {
  write(db: Queryable): Promise<unknown>[]
}

/**
 * Decides what entries change: loads the slice and folds. All writers of the journal but signed changes use it.
 * @param head locked
 */
export async function decideEntries(
  client: pg.ClientBase,
  network: Network,
  { entries, head, epoch, probed, ...options }: AppendOptions & { entries: readonly DecodedEntry[]; head: LockedHead },
): Promise<Decided> {
  const writerMs = options.writerMs ?? (entries.length === 0 ? head.nowMs : writerTime(head))
  const slice = probed
    ? await completeSlice(client, { network, head }, probed)
    : await loadSlice(client, network, head, keysOf(entries))
  const changes = fold(slice, entries, writerMs)
  if (entries.length === 0) return { changes, writerMs, write: () => [] }
  // signed changes and replays leave it to the leader, who may create tables
  if (epoch !== undefined) await makePartitionsAhead(client, network, head.seq, changes.head.seq)
  return { changes, writerMs, write: (db) => writeChanges(db, network, changes) }
}

/** Writes the rows of a fold and moves the locked head, in a pipeline. */
export const writeChanges = (db: Queryable, network: Network, changes: Changes): Promise<unknown>[] => [
  ...(changes.walletRemovals.length > 0 ? [removeWallets(db, network, changes.walletRemovals)] : []),
  ...(changes.movesEnded.length > 0 ? [endMoves(db, network, changes.movesEnded)] : []),
  ...sendTables(db, partsOf(network, changes)),
  ...(changes.walletUpdates.length > 0 ? [updateWallets(db, network, changes.walletUpdates)] : []),
  ...(changes.nameMoves.length > 0 ? [moveNames(db, network, changes.nameMoves)] : []),
  ...(changes.communities.length > 0 ? [markCommunities(db, network, changes.communities)] : []),
  writeHead(db, network, changes.head),
]

/** New rows of a fold, by their tables: journal, names, clusters, wallets, communities, names below them. */
export function partsOf(network: Network, changes: Changes): CopyPart[] {
  const encode = rowsOf(network, changes.head.generation)
  const target = (table: keyof typeof COLUMNS) => `${leaf(table, network)} (${COLUMNS[table]})`
  return [
    copyPart(target('journal'), changes.journal, encode.journal),
    copyPart(target('names'), changes.names, encode.names),
    copyPart(target('clusters'), changes.clusters, encode.clusters),
    copyPart(target('wallets'), changes.wallets, encode.wallets),
    copyPart(target('communities'), changes.communities, encode.communities),
    copyPart(target('community_names'), changes.communityNames, encode.communityNames),
    copyPart(target('moves'), changes.moves, encode.moves),
  ]
}

const COLUMNS = {
  ...STATE_COLUMNS,
  community_names: `${STATE_COLUMNS.community_names}, claim`,
  journal:
    'network, generation, seq, kind, chain, block, log_index, tx_key, at_ms, public_first, public_count, actor, body, effects, ruleset',
}

/** Encoders of each table's rows, in the order of the columns. */
function rowsOf(network: Network, generation: number) {
  const code = NETWORK_CODE[network]
  return {
    journal: (rows: CopyBuffer, row: JournalRow): void => {
      rows.row(15).int2(code).int4(generation).int8(row.seq).int2(ENTRY_KIND[row.kind])
      const { chain = null, block = null, logIndex = null } = row.position ?? {}
      rows.int2(chain).int8(block).int4(logIndex)
      rows.bigint(row.txKey).int8(row.atMs).int8(row.publicFirst).int4(row.publicCount)
      rows.bytea(row.actor).bytea(row.body).bytea(row.effects).int2(row.ruleset)
    },
    names: (rows: CopyBuffer, row: NameRow): void => {
      rows.row(7).int2(code).int8(row.seq).bigint(row.txKey).ascii(row.name)
      rows.int8(row.cluster).int2(OUTCOME[row.outcome]).int8(row.seq)
    },
    clusters: (rows: CopyBuffer, row: ClusterRow): void => {
      rows.row(4).int2(code).int8(row.serial).bytea(row.id).int8(row.createdSeq)
    },
    wallets: (rows: CopyBuffer, row: WalletRow): void => {
      rows.row(9).int2(code).int8(row.cluster).bytea(row.address).ascii(row.name)
      rows.bool(row.isVerified).bool(row.isPrivate).bool(row.isBackedUp).int8(row.createdSeq).int8(row.updatedSeq)
    },
    communities: (rows: CopyBuffer, row: CommunityRow): void => {
      rows.row(3).int2(code).ascii(row.name).int8(row.seq)
    },
    communityNames: (rows: CopyBuffer, row: CommunityNameRow): void => {
      rows.row(8).int2(code).ascii(row.community).ascii(row.name).bytea(row.address)
      rows.bool(row.isVerified).int8(row.assigned).int8(row.seq).bytea(row.claim)
    },
    moves: (rows: CopyBuffer, row: MoveRow): void => {
      rows.row(5).int2(code).int8(row.source).int8(row.target).int8(row.seq).bytea(row.actor)
    },
  }
}

const WALLET = unnestOf<WalletRow>(
  [
    ['cluster', 'int8', (row) => row.cluster],
    ['address', 'bytea', (row) => row.address],
    ['name', 'text', (row) => row.name],
    ['verified', 'bool', (row) => row.isVerified],
    ['private', 'bool', (row) => row.isPrivate],
    ['backed_up', 'bool', (row) => row.isBackedUp],
    ['created_seq', 'int8', (row) => row.createdSeq],
    ['updated_seq', 'int8', (row) => row.updatedSeq],
  ],
  2,
)

async function updateWallets(db: Queryable, network: Network, rows: readonly WalletRow[]): Promise<void> {
  const text = `UPDATE ${leaf('wallets', network)} w SET ${WALLET.set('u')} FROM ${WALLET.rows} AS u(${WALLET.names})
    WHERE w.network = $1 AND w.cluster = u.cluster AND w.address = u.address`
  await writeAll(db, network, { what: 'updating wallets', text }, WALLET.values(rows))
}

async function removeWallets(db: Queryable, network: Network, rows: Changes['walletRemovals']): Promise<void> {
  const text = `DELETE FROM ${leaf('wallets', network)} w USING unnest($2::int8[], $3::bytea[]) AS u(cluster, address)
    WHERE w.network = $1 AND w.cluster = u.cluster AND w.address = u.address`
  const values = [rows.map((row) => row.cluster), rows.map((row) => row.address)]
  await writeAll(db, network, { what: 'removing wallets', text }, values)
}

async function moveNames(db: Queryable, network: Network, moves: readonly NameMove[]): Promise<void> {
  const text = `UPDATE ${leaf('names', network)} n SET cluster = u.cluster, updated_seq = u.updated_seq
    FROM unnest($2::text[], $3::int8[], $4::int8[]) AS u(name, cluster, updated_seq)
    WHERE n.network = $1 AND n.name = u.name COLLATE "C" AND n.outcome = ${WON}`
  // a batch may move a name twice
  const newest = [...new Map(moves.map((move) => [move.name, move])).values()]
  const values = [newest.map((move) => move.name), newest.map((move) => move.cluster)]
  // a plan for any number of names reads all that there are, on young tables: each batch has its own
  const statement = { what: 'moving names', text, isPlannedEachTime: true }
  await writeAll(db, network, statement, [...values, newest.map((move) => move.updatedSeq)])
}

async function endMoves(db: Queryable, network: Network, sources: Changes['movesEnded']): Promise<void> {
  const text = `DELETE FROM ${leaf('moves', network)} WHERE network = $1 AND source = ANY ($2::int8[])`
  await writeAll(db, network, { what: 'ending moves', text }, [sources])
}

/** Marks names that are communities, so that a cluster's are found among many; derived, and no part of the state. */
async function markCommunities(db: Queryable, network: Network, rows: readonly CommunityRow[]): Promise<void> {
  const text = `UPDATE ${leaf('names', network)} SET community = true
    WHERE network = $1 AND name = ANY ($2::text[]) AND outcome = ${WON} AND NOT community`
  await execute(db, network, text, [rows.map(({ name }) => name)])
}

/** Writes rows that have to be there, one per element of the first column; the server counts: a COMMIT may follow. */
async function writeAll(
  db: Queryable,
  network: Network,
  { what, text, isPlannedEachTime = false }: { what: string; text: string; isPlannedEachTime?: boolean },
  columns: readonly unknown[],
): Promise<void> {
  const wanted = `$${columns.length + 2}::int`
  const checked = `WITH written AS (${text} RETURNING 1) SELECT CASE WHEN count(*) <> ${wanted}
    THEN ('${what}: ' || count(*) || ' of ' || ${wanted} || ' rows were there')::int END FROM written`
  const statement = isPlannedEachTime ? checked : { name: `${what} of ${network}`, text: checked }
  await query(db, network, statement, [...columns, (columns[0] as readonly unknown[]).length])
}
