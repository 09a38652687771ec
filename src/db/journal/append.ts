import type pg from 'pg'
import {
  type Changes,
  type ClusterRow,
  type CommunityNameRow,
  type CommunityRow,
  fold,
  type JournalRow,
  keysOf,
  type NameMove,
  type NameRow,
  type WalletRow,
} from '../../registry/fold/index.js'
import { OUTCOME } from '../../registry/journal/bid.js'
import type { DecodedEntry } from '../../registry/journal/decode.js'
import { ENTRY_KIND } from '../../registry/journal/entry.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { WON } from '../pg/codes.js'
import { type CopyBuffer, copyEach } from '../pg/copy.js'
import { leaf } from '../pg/partitions.js'
import { execute } from '../pg/rows.js'
import { unnestOf } from '../pg/arrays.js'
import { lockHead, writeHead, writerTime } from './head.js'
import type { WrittenKeys } from './keyFilter.js'
import { makePartitionsAhead } from './partitions.js'
import { loadSlice } from './slice.js'
import { STATE_COLUMNS } from './stateHash.js'

/** Result of an append: sequence numbers after it. */
export interface Appended {
  entries: number
  seq: number
  publicSeq: number
  /** Minimum in force afterwards. */
  minimumWei: bigint
  /** Outcome of each payment among the entries. */
  payments: Changes['payments']
}

export interface AppendOptions {
  /** Epoch of the indexing leader; absent for signed changes, which need no leader. */
  epoch?: number
  /** Time of the writer, ms: the database's where it is left out; a rebuild keeps the entries' own. */
  writerMs?: number
  /** Precomputed `firstClusterIds` of the entries. */
  firstIds?: ReadonlyMap<string, Buffer>
  /** Filter that saves look-ups of new keys; updated by the append. */
  written?: WrittenKeys
}

/**
 * Appends entries to a network's journal in the caller's transaction: lock the head, load the slice, fold, write. All
 * writers of the journal use it.
 * @throws LostLeadershipError when another process leads
 */
export async function appendEntries(
  client: pg.ClientBase,
  network: Network,
  entries: readonly DecodedEntry[],
  options: AppendOptions,
): Promise<Appended> {
  const head = await lockHead(client, network, options.epoch ?? null)
  if (entries.length === 0)
    return { entries: 0, seq: head.seq, publicSeq: head.publicSeq, minimumWei: head.minimumWei, payments: [] }
  const written = options.written?.covers(head) ? options.written : undefined
  const keys = keysOf(entries)
  const slice = await loadSlice(client, network, head, keys, { firstIds: options.firstIds, written })
  const changes = fold(slice, entries, options.writerMs ?? writerTime(head))
  // signed changes and replays leave it to the leader, who may create tables
  if (options.epoch !== undefined) await makePartitionsAhead(client, network, head.seq, changes.head.seq)
  await writeChanges(client, network, changes)
  // keys that aren't written (wallet of a lost bid) only cost a later look-up
  written?.written([...keys.names, ...keys.wallets], changes.head)
  const { seq, publicSeq, minimumWei } = changes.head
  return { entries: entries.length, seq, publicSeq, minimumWei, payments: changes.payments }
}

/** Writes the rows of a fold and moves the locked head. */
export async function writeChanges(client: pg.ClientBase, network: Network, changes: Changes): Promise<void> {
  const encode = rowsOf(network, changes.head.generation)
  const copy = <T>(table: keyof typeof COLUMNS, rows: readonly T[], row: (to: CopyBuffer, from: T) => void) =>
    copyEach(client, `${leaf(table, network)} (${COLUMNS[table]})`, rows, row)
  await copy('journal', changes.journal, encode.journal)
  await copy('names', changes.names, encode.names)
  await copy('clusters', changes.clusters, encode.clusters)
  if (changes.walletRemovals.length > 0) await removeWallets(client, network, changes.walletRemovals)
  await copy('wallets', changes.wallets, encode.wallets)
  if (changes.walletUpdates.length > 0) await updateWallets(client, network, changes.walletUpdates)
  await copy('communities', changes.communities, encode.communities)
  await copy('community_names', changes.communityNames, encode.communityNames)
  if (changes.nameMoves.length > 0) await moveNames(client, network, changes.nameMoves)
  if (changes.communities.length > 0) await markCommunities(client, network, changes.communities)
  await writeHead(client, network, changes.head)
}

const COLUMNS = {
  ...STATE_COLUMNS,
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
      rows.row(7).int2(code).ascii(row.community).ascii(row.name).bytea(row.address)
      rows.bool(row.isVerified).int8(row.assigned).int8(row.seq)
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

async function updateWallets(client: pg.ClientBase, network: Network, rows: readonly WalletRow[]): Promise<void> {
  const text = `UPDATE ${leaf('wallets', network)} w SET ${WALLET.set('u')} FROM ${WALLET.rows} AS u(${WALLET.names})
    WHERE w.network = $1 AND w.cluster = u.cluster AND w.address = u.address`
  await writeAll(client, network, { what: 'updating wallets', text }, WALLET.values(rows))
}

async function removeWallets(client: pg.ClientBase, network: Network, rows: Changes['walletRemovals']): Promise<void> {
  const text = `DELETE FROM ${leaf('wallets', network)} w USING unnest($2::int8[], $3::bytea[]) AS u(cluster, address)
    WHERE w.network = $1 AND w.cluster = u.cluster AND w.address = u.address`
  const values = [rows.map((row) => row.cluster), rows.map((row) => row.address)]
  await writeAll(client, network, { what: 'removing wallets', text }, values)
}

async function moveNames(client: pg.ClientBase, network: Network, moves: readonly NameMove[]): Promise<void> {
  const text = `UPDATE ${leaf('names', network)} n SET cluster = u.cluster, updated_seq = u.updated_seq
    FROM unnest($2::text[], $3::int8[], $4::int8[]) AS u(name, cluster, updated_seq)
    WHERE n.network = $1 AND n.name = u.name COLLATE "C" AND n.outcome = ${WON}`
  // a batch may move a name twice
  const newest = [...new Map(moves.map((move) => [move.name, move])).values()]
  const values = [newest.map((move) => move.name), newest.map((move) => move.cluster)]
  await writeAll(client, network, { what: 'moving names', text }, [...values, newest.map((move) => move.updatedSeq)])
}

/** Marks names that are communities, so that a cluster's are found among many; derived, and no part of the state. */
async function markCommunities(client: pg.ClientBase, network: Network, rows: readonly CommunityRow[]): Promise<void> {
  const text = `UPDATE ${leaf('names', network)} SET community = true
    WHERE network = $1 AND name = ANY ($2::text[]) AND outcome = ${WON} AND NOT community`
  await execute(client, network, text, [rows.map(({ name }) => name)])
}

/** Writes rows that have to be there, one per element of the columns. */
async function writeAll(
  client: pg.ClientBase,
  network: Network,
  { what, text }: { what: string; text: string },
  columns: readonly (readonly unknown[])[],
): Promise<void> {
  const count = await execute(client, network, text, columns)
  const wanted = columns[0]!.length
  if (count !== wanted) throw new Error(`${what}: ${count} of ${wanted} rows were there`)
}
