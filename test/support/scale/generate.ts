import pg from 'pg'
import { partsOf } from '../../../src/db/journal/append.js'
import { writeHead } from '../../../src/db/journal/head.js'
import { migrate } from '../../../src/db/pg/migrate.js'
import { leaf, STATE_TABLES } from '../../../src/db/pg/partitions.js'
import { type Changes, fold, type Head, type Slice } from '../../../src/registry/fold/index.js'
import type { DecodedEntry } from '../../../src/registry/journal/decode.js'
import { keyOf } from '../../../src/registry/primitives/bytes.js'
import { JournalCopy, TableCopy } from './copies.js'
import { Entries, minimumEntry } from './entries.js'
import { nameOf, walletOf, wantedOf } from './population.js'

/**
 * Fills a database with a generated registry: entries go through the fold and the encoders of the daemon's rows, and by
 * COPY into tables without indexes, which are built at the end, as after a restore. A test compares the tables with a
 * replay of their journal.
 */

const NETWORK = 'mainnet'
const CLUSTERS_A_BATCH = 2_000
/** Time of the writer: all entries are dated by their causes. */
const WRITER_MS = Number.MAX_SAFE_INTEGER
const BEGINNING: Head = { generation: 1, seq: 0, publicSeq: 0, atMs: 0, serial: 0, minimumWei: 0n }

/** What was generated. */
export interface Generated {
  /** Names won; the last cluster may bring it over what was asked for. */
  names: number
  clusters: number
  wallets: number
  entries: number
  events: number
  /** Time for the rows, and for the indexes after them, seconds. */
  rowsS: number
  indexesS: number
}

export interface GenerateOptions {
  databaseUrl: string
  /** Names of the registry, at least. */
  names: number
  onProgress?: (names: number) => void
}

/** Generates. Requires a new database. */
export async function generate({ databaseUrl, names, onProgress = () => {} }: GenerateOptions): Promise<Generated> {
  await migrate(databaseUrl)
  const startMs = performance.now()
  const tables = STATE_TABLES.map((table) => new TableCopy(databaseUrl, table, NETWORK))
  const journal = new JournalCopy(databaseUrl, NETWORK)
  const entries = new Entries(names)
  let head = BEGINNING
  let [won, wallets, cluster] = [0, 0, 0]
  while (won < names) {
    const batch: DecodedEntry[] = cluster === 0 ? [minimumEntry()] : []
    const first = cluster
    for (; cluster < first + CLUSTERS_A_BATCH && won < names; cluster++) won += entries.add(batch, cluster).names
    const changes = fold(sliceOf(head, first, cluster, names), batch, WRITER_MS)
    assertNew(changes)
    wallets += changes.wallets.length
    head = changes.head
    const [journalRows, ...others] = partsOf(NETWORK, changes)
    await journal.add(journalRows!, changes.journal[0]!.seq)
    for (const [i, part] of others.entries()) await tables[i]!.add(part)
    onProgress(won)
  }
  const rowsS = (performance.now() - startMs) / 1_000
  // one builds indexes on each core
  const endTables = async () => {
    for (const table of tables) await table.end()
  }
  await Promise.all([journal.end(), endTables()])
  await finish(databaseUrl, head)
  const indexesS = (performance.now() - startMs) / 1_000 - rowsS
  return { names: won, clusters: cluster, wallets, entries: head.seq, events: head.publicSeq, rowsS, indexesS }
}

/** Rows that a batch of whole clusters reads: those are new, and of others it asks for names that lost bids wanted. */
function sliceOf(head: Head, first: number, end: number, names: number): Slice {
  const owners = new Map<string, number>()
  const nextClusterNumber = new Map<string, number>()
  for (let cluster = first; cluster < end; cluster++) {
    nextClusterNumber.set(keyOf(walletOf(cluster)), 0)
    const wanted = cluster > 0 && names > 0 ? wantedOf(cluster) : cluster
    if (wanted < first) owners.set(nameOf(wanted), wanted + 1)
  }
  return {
    ...{ network: NETWORK, head, owners, nextClusterNumber, verified: new Map(), clusters: new Map() },
    ...{ clusterSerials: new Map(), communities: new Map(), communityNames: new Set(), assigned: new Map() },
    moves: new Map(),
  }
}

/** @throws Error where a batch changed a row of another, or a change was refused */
function assertNew({ walletUpdates, walletRemovals, nameMoves, outcomes }: Changes): void {
  const refused = outcomes.find(({ refusal }) => refusal !== null)
  if (refused) throw new Error(`folding entry ${refused.seq}: ${refused.refusal!.code}`)
  if (walletUpdates.length + walletRemovals.length + nameMoves.length > 0)
    throw new Error('a batch of generated clusters changed rows of another')
}

/** Moves the head, marks names that are communities, and counts rows for the planner, as autovacuum does in time. */
async function finish(databaseUrl: string, head: Head): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await writeHead(client, NETWORK, head)
  await client.query('UPDATE journal_heads SET caught_up = true WHERE network = 0')
  const [names, communities] = [leaf('names', NETWORK), leaf('communities', NETWORK)]
  await client.query(
    `UPDATE ${names} n SET community = true FROM ${communities} c WHERE n.network = 0 AND n.name = c.name AND n.outcome = 1`,
  )
  await client.query('VACUUM ANALYZE')
  await client.query('CHECKPOINT')
  await client.end()
}
