import { createHash } from 'node:crypto'
import type pg from 'pg'
import { decodeEntry } from '../../registry/journal/decode.js'
import { ENTRY_KIND, type Entry, entryKind } from '../../registry/journal/entry.js'
import { NOT_FOLDED } from '../../registry/journal/ruleset.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { leaf, type PartitionedTable, STATE_TABLES } from '../pg/partitions.js'
import { query } from '../pg/rows.js'
import { appendEntries } from './append.js'
import { lastArchived, refuseArchived } from './archive/archives.js'
import { readHead } from './head.js'
import { commitSnapshot, copySnapshot, fillFrom, findSnapshot, type Snapshot } from './snapshot/index.js'
import { entriesHash, stateHash } from './stateHash.js'

const BATCH_ENTRIES = 5_000
/** Slices of moves in a batch, each of which reads and moves a thousand names. */
const BATCH_SLICES = 16

export interface Replayed {
  network: Network
  generation: number
  entries: number
  /** Entries that were not folded, since a snapshot has what they give; 0 for a whole replay. */
  from: number
  /** State hash of the live tables, hex; from a snapshot on a hash that is no other's. */
  live: string
  /** The same of the rebuilt tables, hex. */
  rebuilt: string
  /** Number of the last entry of the snapshot that was kept, null where none was. */
  kept: number | null
}

export interface ReplayOptions {
  /** Called with the numbers of done and of all entries. */
  onProgress?: OnProgress
  /** Goes on from the kept snapshot, where there is one. */
  isIncremental?: boolean
  /** Keeps a snapshot so many entries or more before the end, where both hashes are the same. */
  keepBehind?: number | null
}

type Columns = Pick<Entry, 'causeMs' | 'body' | 'ruleset'> & {
  kind: number
  chain: number | null
  block: number | null
  logIndex: number | null
  txKey: string | null
}

/** Entries left for the transaction that compares. */
const LEFT_FOR_SNAPSHOT = 1_000

type OnProgress = (done: number, total: number) => void | Promise<void>

/**
 * Rebuilds a network's tables from the journal's inputs (kind, position, time, body) in a separate schema and hashes
 * both, so the daemon may run. Entries never change, so each batch is read by itself; one REPEATABLE READ transaction
 * reads the newest and the live tables: a snapshot of hours would keep the dead versions of the head's row.
 * @throws Error when a rewind began another generation meanwhile, and where entries to be folded are archived
 */
export async function replay(
  pool: pg.Pool,
  network: Network,
  { onProgress = () => {}, isIncremental = false, keepBehind = null }: ReplayOptions = {},
): Promise<Replayed> {
  const schema = `replay_${network}_${process.pid}`
  const reader = await pool.connect()
  const writer = await pool.connect()
  try {
    const { generation, seq } = await readHead(reader, network)
    const base = isIncremental ? await findSnapshot(reader, network, generation, seq) : null
    const from = base?.seq ?? 0
    await refuseArchived(reader, network, keepBehind === null ? from : 0)
    await writer.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await createSchema(writer, network, { schema, generation, tables: ['journal', ...STATE_TABLES] })
    await writer.query(`SET search_path = ${schema}`)
    const refold = { reader, writer, network, generation, onProgress }
    if (base) await goOnFrom(refold, base, schema)
    const kept =
      keepBehind !== null && seq - keepBehind > from ? await foldTo(refold, from, () => seq - keepBehind) : null
    if (kept !== null) {
      const entries = await entriesHash(reader, network, { generation, upTo: kept })
      await copySnapshot(writer, network, { schema: `${schema}_kept`, entries })
    }
    const done = await foldTo(refold, kept ?? from, (head) => Math.max(seq, head - LEFT_FOR_SNAPSHOT))
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const entries = await foldTo(refold, done, (head) => head)
    let live = await stateHash(reader, network, generation, from)
    let rebuilt = await stateHash(writer, network, generation, from)
    await refuseArchived(reader, network, from)
    // entries that files alone have were compared when they were dropped
    if (base && (await lastArchived(reader, network)) === 0) {
      live = both(live, await entriesHash(reader, network, { generation, upTo: from }))
      rebuilt = both(rebuilt, base.entries)
    }
    await reader.query('ROLLBACK')
    const isKept = kept !== null && live === rebuilt
    if (isKept) await commitSnapshot(writer, network, `${schema}_kept`)
    return { network, generation, entries, from, live, rebuilt, kept: isKept ? kept : null }
  } finally {
    await writer.query('ROLLBACK').catch(() => {})
    await writer.query(`DROP SCHEMA IF EXISTS ${schema}, ${schema}_kept CASCADE`).catch(() => {})
    await reader.query('ROLLBACK').catch(() => {})
    // destroyed, not pooled: its search path and prepared statements belong to the replay
    writer.release(true)
    reader.release()
  }
}

interface Refold {
  reader: pg.PoolClient
  writer: pg.PoolClient
  network: Network
  generation: number
  onProgress: OnProgress
}

const both = (...hashes: string[]): string => createHash('sha256').update(hashes.join()).digest('hex')

/** Fills the rebuilt tables from a snapshot, and the journal with what the fold reads there: rules of communities. */
async function goOnFrom({ writer, network, generation }: Refold, base: Snapshot, schema: string): Promise<void> {
  await fillFrom(writer, network, base, { schema })
  const [journal, code] = [leaf('journal', network), NETWORK_CODE[network]]
  await writer.query(`INSERT INTO ${schema}.${journal} SELECT j.* FROM ${schema}.${leaf('communities', network)} c
    JOIN public.${journal} j ON j.network = ${code} AND j.generation = ${generation} AND j.seq = c.seq`)
}

/** Folds the entries after `from`, up to what `endOf` says of the head. @returns the last one's number */
async function foldTo(
  { reader, writer, network, generation, onProgress }: Refold,
  from: number,
  endOf: (headSeq: number) => number,
): Promise<number> {
  for (let done = from; ; ) {
    const head = await readHead(reader, network)
    if (head.generation !== generation)
      throw new Error(`replaying ${network}: generation ${generation} has ended: run it again`)
    const end = endOf(head.seq)
    if (done >= end) return done
    const entries = (await readEntries(reader, network, generation, done)).slice(0, end - done)
    if (entries.length === 0)
      throw new Error(`replaying ${network}: the journal ends at entry ${done}, its head says ${head.seq}`)
    await writer.query('BEGIN')
    await appendEntries(writer, network, entries.map(decodeEntry), { writerMs: Number.POSITIVE_INFINITY })
    await writer.query('COMMIT')
    done += entries.length
    await onProgress(done, head.seq)
  }
}

interface NewSchema {
  schema: string
  generation: number
  tables: readonly PartitionedTable[]
  kind?: 'TABLE' | 'UNLOGGED TABLE'
  /** Constraint of each table, after a comma. */
  check?: string
}

/** Creates a schema with empty tables of a network and the head of a generation without entries. */
export async function createSchema(
  writer: pg.ClientBase,
  network: Network,
  { schema, generation, tables, kind = 'UNLOGGED TABLE', check = '' }: NewSchema,
): Promise<void> {
  await writer.query(`CREATE SCHEMA ${schema}`)
  for (const table of tables) {
    const name = leaf(table, network)
    await writer.query(`CREATE ${kind} ${schema}.${name} (LIKE public.${name} INCLUDING ALL${check})`)
  }
  await writer.query(`CREATE TABLE ${schema}.journal_heads (LIKE public.journal_heads INCLUDING ALL)`)
  await writer.query(
    `INSERT INTO ${schema}.journal_heads (network, generation, seq, public_seq, at_ms, serial, minimum_wei) VALUES ($1, $2, 0, 0, 0, 0, 0)`,
    [NETWORK_CODE[network], generation],
  )
}

/**
 * Inputs of the next entries of a generation, of as many as make a batch, with journalled times as causes.
 * @throws Error for those of a public copy
 * @param schema schema of the journal, with its dot; default: by the search path
 */
export async function readEntries(
  reader: pg.ClientBase,
  network: Network,
  generation: number,
  after: number,
  schema = '',
): Promise<Entry[]> {
  const rows = await query<Columns>(
    reader,
    network,
    `SELECT kind, chain, block, log_index, tx_key::text, at_ms AS cause_ms, body, ruleset FROM ${schema}${leaf('journal', network)}
     WHERE network = $1 AND generation = $2 AND seq > $3 ORDER BY seq LIMIT ${BATCH_ENTRIES}`,
    [generation, after],
  )
  if (rows.some(({ ruleset }) => ruleset === NOT_FOLDED))
    throw new Error(
      `the journal of ${network} is a public copy’s: it lacks what is private, and can’t be folded again.`,
    )
  const slices = rows.flatMap(({ kind }, i) => (kind === ENTRY_KIND.move_names ? i : []))
  return rows.slice(0, slices[BATCH_SLICES]).map(({ kind, chain, block, logIndex, txKey, ...row }) => ({
    ...row,
    kind: entryKind(kind),
    position: chain === null ? null : { chain, block: block!, logIndex: logIndex! },
    txKey: txKey === null ? null : BigInt(txKey),
  }))
}
