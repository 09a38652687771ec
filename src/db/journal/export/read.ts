import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { NETWORK_CODE, NETWORKS, type Network } from '../../../registry/primitives/network.js'
import { leaf, STATE_TABLES } from '../../pg/partitions.js'
import { keepJournal, refuseArchived } from '../archive/archives.js'
import { readCheckpoint } from '../feed.js'
import { readHead } from '../head.js'
import { stateHash } from '../stateHash.js'
import { showPublicJournal, showPublicTables } from './public.js'
import { copiedTables, INPUT_COLUMNS, JOURNAL_COLUMNS, rowsOf, type TableName } from './tables.js'

/** What an export has of a network. */
export interface ExportedNetwork {
  generation: number
  /** Number of the feed. */
  feed: number
  /** Entries; those of a public export are numbered without the ones that it leaves out. */
  seq: number
  publicSeq: number
  atMs: number
  serial: number
  /** Wei, decimal. */
  minimumWei: string
  /** State hash of the tables that the copy will have, hex. */
  stateHash: string
  /** Hash over the first events of the feed, hex (docs/events.md). */
  checkpoint: { count: number; hash: string }
}

export interface Manifest {
  isPublic: boolean
  /** By the database's clock, ms. */
  createdMs: number
  /** Migrations of the database. */
  migrations: string[]
  networks: Partial<Record<Network, ExportedNetwork>>
}

/** A piece of an export: its bytes are PostgreSQL's binary COPY format, of one COPY per `copy` or `journal`. */
type Piece =
  | { manifest: Manifest }
  /** Rows of a table, in any number of pieces that follow one another. */
  | { copy: { table: TableName; network?: Network; columns: string } }
  /** All tables are written, and the journal follows. */
  | { copied: true }
  /** Entries from one number to another, inclusive. */
  | { journal: { network: Network; columns: string; from: number; to: number } }

export interface WrittenPiece {
  fields: Piece
  bytes: Buffer
}

/** Where a cut export stood: what it says of itself, and the entries that it has. */
export interface Progress {
  manifest: Manifest
  entries: Partial<Record<Network, number>>
}

export interface ExportOptions {
  networks: readonly Network[]
  isPublic: boolean
  /** Goes on behind what a cut export has. */
  progress: Progress | null
  onProgress?: (network: Network, done: number, total: number) => void
}

/** Size from which bytes of a COPY are handed on. */
const PIECE_BYTES = 1 << 20
/** Entries of a piece: about a megabyte. */
const PART_ENTRIES = 4_096
const NOTHING = Buffer.alloc(0)

/**
 * Reads an export, piece by piece. The tables, and with them how far the journal goes, come from one snapshot; entries
 * never change, and are read after it, so that a long export holds up nothing.
 * @throws Error where the generation that a cut export began with is gone, and where entries are archived
 */
export async function* readExport(client: pg.ClientBase, options: ExportOptions): AsyncGenerator<WrittenPiece> {
  const { progress, isPublic } = options
  const manifest = progress?.manifest ?? (yield* readSnapshot(client, options))
  for (const network of NETWORKS) {
    const exported = manifest.networks[network]
    if (!exported) continue
    if (isPublic && progress) await showPublicJournal(client, network, exported.generation, exported.seq)
    yield* readJournal(client, network, exported, { ...options, done: progress?.entries[network] ?? 0 })
  }
}

async function* readSnapshot(client: pg.ClientBase, options: ExportOptions): AsyncGenerator<WrittenPiece, Manifest> {
  const { networks, isPublic } = options
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
  try {
    for (const network of networks) await keepJournal(client, network)
    const manifest = await readManifest(client, options)
    yield { fields: { manifest }, bytes: NOTHING }
    for (const table of copiedTables(isPublic)) {
      const columns = await columnsOf(client, table)
      yield* readRows(client, { table, columns }, `SELECT ${columns} FROM ${table} WHERE ${rowsOf(table, networks)}`)
    }
    if (isPublic)
      for (const network of networks)
        for (const table of STATE_TABLES) {
          const columns = await columnsOf(client, table)
          yield* readRows(client, { table, network, columns }, `SELECT ${columns} FROM ${leaf(table, network)}`)
        }
    yield { fields: { copied: true }, bytes: NOTHING }
    return manifest
  } finally {
    // keeps the views of a public export
    await client.query('COMMIT')
  }
}

async function readManifest(client: pg.ClientBase, { networks, isPublic }: ExportOptions): Promise<Manifest> {
  const found: Manifest['networks'] = {}
  for (const network of networks) {
    await refuseArchived(client, network)
    const { caughtUp: _, minimumWei, ...head } = await readHead(client, network)
    const feed = await readCheckpoint(client, network)
    const shown = isPublic ? await showPublicJournal(client, network, head.generation, null) : {}
    if (isPublic) await showPublicTables(client, network)
    found[network] = {
      ...{ ...head, ...shown, minimumWei: minimumWei.toString(), feed: feed.generation },
      checkpoint: { count: feed.count, hash: feed.hash.toString('hex') },
      stateHash: await stateHash(client, network, head.generation),
    }
  }
  const { rows } = await client.query<{ created_ms: number; migrations: string[] }>(
    `SELECT (extract(epoch FROM now()) * 1000)::int8 AS created_ms, array(SELECT name FROM migrations ORDER BY name) AS migrations`,
  )
  return { isPublic, createdMs: rows[0]!.created_ms, migrations: rows[0]!.migrations, networks: found }
}

async function columnsOf(client: pg.ClientBase, table: TableName): Promise<string> {
  const text = `SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) AS columns FROM pg_attribute
    WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`
  return (await client.query<{ columns: string }>(text, [`public.${table}`])).rows[0]!.columns
}

async function* readRows(
  client: pg.ClientBase,
  copy: { table: TableName; network?: Network; columns: string },
  query: string,
): AsyncGenerator<WrittenPiece> {
  const stream = client.query(copyTo(`COPY (${query}) TO STDOUT (FORMAT binary)`))
  let chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size < PIECE_BYTES) continue
    yield { fields: { copy }, bytes: Buffer.concat(chunks) }
    chunks = []
    size = 0
  }
  // a table without rows takes no place
  if (stream.rowCount > 0) yield { fields: { copy }, bytes: Buffer.concat(chunks) }
}

async function* readJournal(
  client: pg.ClientBase,
  network: Network,
  { generation, seq }: ExportedNetwork,
  { isPublic, done, onProgress }: ExportOptions & { done: number },
): AsyncGenerator<WrittenPiece> {
  const columns = isPublic ? JOURNAL_COLUMNS : INPUT_COLUMNS
  for (let from = done + 1; from <= seq; from += PART_ENTRIES) {
    const to = Math.min(seq, from + PART_ENTRIES - 1)
    const rows = `FROM ${leaf('journal', network)} WHERE network = ${NETWORK_CODE[network]} AND generation = ${generation}`
    const query = `SELECT ${columns} ${rows} AND seq BETWEEN ${from} AND ${to} ORDER BY seq`
    const stream = client.query(copyTo(`COPY (${query}) TO STDOUT (FORMAT binary)`))
    const bytes = Buffer.concat((await stream.toArray()) as Buffer[])
    // what a drop leaves of an entry may be less than all of it
    await refuseArchived(client, network)
    if (stream.rowCount !== to - from + 1)
      throw new Error(`generation ${generation} of ${network} is gone, a rewind began another: export anew.`)
    yield { fields: { journal: { network, columns, from, to } }, bytes }
    onProgress?.(network, to, seq)
  }
}
