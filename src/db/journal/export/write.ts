import type pg from 'pg'
import { decodeEntry } from '../../../registry/journal/decode.js'
import { NETWORKS, type Network } from '../../../registry/primitives/network.js'
import { startCopy } from '../../pg/copy.js'
import { appliedMigrations, refuseUnknown } from '../../pg/migrate.js'
import { leaf, STATE_TABLES } from '../../pg/partitions.js'
import { execute } from '../../pg/rows.js'
import { appendEntries } from '../append.js'
import { lockHead } from '../head.js'
import { makePartitionsAhead, PARTITION_ENTRIES } from '../partitions.js'
import { readEntries } from '../replay.js'
import { beginAfterRestore } from '../restored.js'
import { stateHash } from '../stateHash.js'
import type { ExportedNetwork, Manifest, WrittenPiece } from './read.js'
import { FILLED_TABLES, INPUT_COLUMNS, serialOf, TABLES, type TableName } from './tables.js'

/** Holds the entries until they are folded, for the transaction alone. */
const SCHEMA = 'clusterd_import'

/** Thrown for an import that can't be, with one sentence that says what to do; nothing is changed. */
export class ImportError extends Error {
  override name = 'ImportError'
}

export interface Imported {
  /** Numbers of the feed before and after. */
  feed: { from: number; to: number }
  entries: number
  stateHash: string
}

export interface ImportOptions {
  onProgress?: (network: Network, done: number, total: number) => void
  /** Looks at a network's rows before anybody sees them, under the number of the feed that they had. */
  check?: (client: pg.ClientBase, network: Network, exported: ExportedNetwork) => Promise<void>
}

/**
 * Writes an export into an empty database, in the caller's transaction: copies its tables, folds its journal, and
 * compares the state hash. A public export has its tables in place of the fold. The feed gets another number, as
 * after a restore.
 * @param pieces of a whole export, verified
 * @throws ImportError for a database that is not empty, one of another version, and an export that is not what it says
 */
export async function writeExport(
  client: pg.ClientBase,
  pieces: AsyncIterable<WrittenPiece>,
  options: ImportOptions = {},
): Promise<Partial<Record<Network, Imported>>> {
  for (const network of NETWORKS) await lockHead(client, network, null)
  await assertEmpty(client)
  const manifest = await copyPieces(client, pieces)
  const networks: Partial<Record<Network, Imported>> = {}
  for (const network of NETWORKS) {
    const exported = manifest.networks[network]
    if (exported) networks[network] = await finish(client, network, { exported, manifest, options })
  }
  await client.query(`DROP SCHEMA ${SCHEMA} CASCADE`)
  return networks
}

async function assertEmpty(client: pg.ClientBase): Promise<void> {
  for (const table of FILLED_TABLES) {
    const { rows } = await client.query<{ found: boolean }>(`SELECT EXISTS (SELECT FROM ${table}) AS found`)
    if (rows[0]!.found)
      throw new ImportError(`the database is in use: its table ${table} has rows. Import into an empty one.`)
  }
}

/** Writes all rows; entries that are to be folded into tables of their own. */
async function copyPieces(client: pg.ClientBase, pieces: AsyncIterable<WrittenPiece>): Promise<Manifest> {
  let manifest: Manifest | null = null
  const copies = new Copies(client)
  try {
    for await (const { fields, bytes } of pieces) {
      if ('manifest' in fields) manifest = await begin(client, fields.manifest)
      else if (!manifest) throw new ImportError('the export does not begin with what it says of itself: export again.')
      else if (!('copied' in fields)) await copies.add(fields, bytes, manifest.isPublic)
    }
    await copies.end()
  } catch (error) {
    await copies.fail(error as Error)
    throw error
  }
  if (!manifest) throw new ImportError('the export is empty: export again.')
  for (const table of Object.keys(TABLES) as TableName[]) await goOnBehind(client, table)
  return manifest
}

/** Pieces of one COPY after the other. */
class Copies {
  readonly #client: pg.ClientBase
  #open: { key: string; copy: ReturnType<typeof startCopy> } | null = null

  constructor(client: pg.ClientBase) {
    this.#client = client
  }

  async add(fields: Rows, bytes: Buffer, isPublic: boolean): Promise<void> {
    const key = JSON.stringify(fields)
    if (this.#open?.key !== key) {
      await this.end()
      const target = await targetOf(this.#client, fields, isPublic)
      this.#open = { key, copy: startCopy(this.#client, target) }
    }
    await this.#open!.copy.write(bytes)
  }

  async end(): Promise<void> {
    const open = this.#open
    this.#open = null
    await open?.copy.end()
  }

  /** The connection takes statements again. */
  fail = async (error: Error): Promise<void> => this.#open?.copy.fail(error)
}

async function begin(client: pg.ClientBase, manifest: Manifest): Promise<Manifest> {
  refuseUnknown(
    manifest.migrations,
    await appliedMigrations(client),
    (unknown) => new ImportError(`the export is of a newer version (${unknown}): import it with that one.`),
  )
  await client.query(`CREATE SCHEMA ${SCHEMA}`)
  for (const network of NETWORKS) {
    const exported = manifest.networks[network]
    if (!exported) continue
    const journal = leaf('journal', network)
    await client.query(
      `CREATE UNLOGGED TABLE ${SCHEMA}.${journal} AS SELECT ${INPUT_COLUMNS} FROM ${journal} WITH NO DATA`,
    )
    for (let from = 0; from < exported.seq; from += PARTITION_ENTRIES)
      await makePartitionsAhead(client, network, from, Math.min(exported.seq, from + PARTITION_ENTRIES))
    const head = 'UPDATE journal_heads SET generation = $2, feed_generation = $3 WHERE network = $1'
    await execute(client, network, head, [exported.generation, exported.feed])
  }
  if (!manifest.isPublic) await client.query('DELETE FROM deployment')
  return manifest
}

type Rows = Exclude<WrittenPiece['fields'], { manifest: Manifest } | { copied: true }>

/** Where rows go: a table of ours with columns that it has. */
async function targetOf(client: pg.ClientBase, fields: Rows, isPublic: boolean): Promise<string> {
  const isJournal = 'journal' in fields
  const table = isJournal ? 'journal' : fields.copy.table
  const columns = isJournal ? fields.journal.columns : fields.copy.columns
  if (!Object.hasOwn(TABLES, table)) throw new ImportError(`the export has a table that is unknown here: ${table}.`)
  const text =
    'SELECT quote_ident(attname) AS attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped'
  const { rows } = await client.query<{ attname: string }>(text, [`public.${table}`])
  const known = new Set(rows.map(({ attname }) => attname))
  const unknown = columns.split(', ').find((column) => !known.has(column))
  if (unknown !== undefined) throw new ImportError(`the export has a column that is unknown here: ${table}.${unknown}.`)
  if (!isJournal || isPublic) return `public.${table} (${columns})`
  const { network } = fields.journal
  if (!NETWORKS.includes(network)) throw new ImportError(`the export has a network that is unknown here: ${network}.`)
  return `${SCHEMA}.${leaf('journal', network)} (${columns})`
}

/** Lets a column that counts by itself go on behind the imported rows. */
async function goOnBehind(client: pg.ClientBase, table: TableName): Promise<void> {
  const serial = serialOf(table)
  if (serial === undefined) return
  await client.query(
    `SELECT setval(pg_get_serial_sequence($1, $2), (SELECT coalesce(max(${serial}), 0) + 1 FROM ${table}), false)`,
    [table, serial],
  )
}

async function finish(
  client: pg.ClientBase,
  network: Network,
  { exported, manifest, options }: { exported: ExportedNetwork; manifest: Manifest; options: ImportOptions },
): Promise<Imported> {
  if (manifest.isPublic) await setHead(client, network, exported)
  else await foldEntries(client, network, exported, options)
  for (const table of STATE_TABLES) await client.query(`ANALYZE ${leaf(table, network)}`)
  await client.query(`ANALYZE ${leaf('journal', network)}`)
  await assertSame(client, network, exported)
  await options.check?.(client, network, exported)
  const { feed, entries } = await beginAfterRestore(client, network)
  return { feed, entries, stateHash: exported.stateHash }
}

async function setHead(client: pg.ClientBase, network: Network, head: ExportedNetwork): Promise<void> {
  const text =
    'UPDATE journal_heads SET seq = $2, public_seq = $3, at_ms = $4, serial = $5, minimum_wei = $6 WHERE network = $1'
  await execute(client, network, text, [head.seq, head.publicSeq, head.atMs, head.serial, head.minimumWei])
}

async function foldEntries(
  client: pg.ClientBase,
  network: Network,
  { generation, seq }: ExportedNetwork,
  { onProgress }: ImportOptions,
): Promise<void> {
  const journal = `${SCHEMA}.${leaf('journal', network)}`
  await client.query(`CREATE INDEX ON ${journal} (network, generation, seq)`)
  await client.query(`ANALYZE ${journal}`)
  for (let done = 0; done < seq; ) {
    const entries = await readEntries(client, network, { generation, after: done, schema: `${SCHEMA}.` })
    if (entries.length === 0)
      throw new ImportError(`the export lacks entries of ${network} behind ${done}: export again.`)
    await appendEntries(client, network, entries.map(decodeEntry), { writerMs: Number.POSITIVE_INFINITY })
    done += entries.length
    onProgress?.(network, done, seq)
  }
}

/** @throws ImportError where the tables are not those that were exported */
async function assertSame(client: pg.ClientBase, network: Network, exported: ExportedNetwork): Promise<void> {
  const { seq, publicSeq, atMs, serial, minimumWei } = await lockHead(client, network, null)
  const head = { seq, publicSeq, atMs, serial, minimumWei: minimumWei.toString() }
  const hash = await stateHash(client, network, exported.generation)
  const isSame = Object.entries(head).every(([key, value]) => exported[key as keyof typeof head] === value)
  if (isSame && hash === exported.stateHash) return
  throw new ImportError(
    `${network} comes to state hash ${hash}, not to the export's ${exported.stateHash}: export again.`,
  )
}
