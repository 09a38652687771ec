import type pg from 'pg'
import { decodeEntry } from '../../registry/journal/decode.js'
import { type Entry, entryKind } from '../../registry/journal/entry.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { leaf, STATE_TABLES } from '../pg/partitions.js'
import { appendEntries } from './append.js'
import { readHead } from './head.js'
import { stateHash } from './stateHash.js'

const BATCH_ENTRIES = 5_000
const TABLES = ['journal', ...STATE_TABLES] as const

export interface Replayed {
  network: Network
  generation: number
  entries: number
  /** State hash of the live tables, hex. */
  live: string
  /** State hash of the rebuilt tables, hex. */
  rebuilt: string
}

interface Columns {
  seq: number
  kind: number
  chain: number | null
  block: number | null
  log_index: number | null
  tx_key: string | null
  at_ms: number
  body: Buffer
  ruleset: number
}

/**
 * Rebuilds a network's tables from the journal's inputs (kind, position, time, body) in a separate schema and hashes
 * both. One REPEATABLE READ transaction reads the journal, so the daemon may run.
 * @param onProgress called with the numbers of done and of all entries
 */
export async function replay(
  pool: pg.Pool,
  network: Network,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<Replayed> {
  const schema = `replay_${network}_${process.pid}`
  const reader = await pool.connect()
  const writer = await pool.connect()
  try {
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    const head = await readHead(reader, network)
    await createTables(writer, network, schema, head.generation)
    let done = 0
    while (done < head.seq) {
      const entries = await readEntries(reader, network, head.generation, done)
      if (entries.length === 0)
        throw new Error(`replaying ${network}: the journal ends at entry ${done}, its head says ${head.seq}`)
      await writer.query('BEGIN')
      await appendEntries(writer, network, entries.map(decodeEntry), { writerMs: Number.POSITIVE_INFINITY })
      await writer.query('COMMIT')
      done += entries.length
      onProgress(done, head.seq)
    }
    const rebuilt = await stateHash(writer, network, head.generation)
    const live = await stateHash(reader, network, head.generation)
    return { network, generation: head.generation, entries: done, live, rebuilt }
  } finally {
    await writer.query('ROLLBACK').catch(() => {})
    await writer.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`).catch(() => {})
    await reader.query('ROLLBACK').catch(() => {})
    // destroyed, not pooled: its search path and prepared statements belong to the replay
    writer.release(true)
    reader.release()
  }
}

async function createTables(
  writer: pg.ClientBase,
  network: Network,
  schema: string,
  generation: number,
): Promise<void> {
  await writer.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await writer.query(`CREATE SCHEMA ${schema}`)
  for (const table of TABLES) {
    await writer.query(
      `CREATE UNLOGGED TABLE ${schema}.${leaf(table, network)} (LIKE public.${leaf(table, network)} INCLUDING ALL)`,
    )
  }
  await writer.query(`CREATE TABLE ${schema}.journal_heads (LIKE public.journal_heads INCLUDING ALL)`)
  await writer.query(
    `INSERT INTO ${schema}.journal_heads (network, generation, seq, public_seq, at_ms, serial, minimum_wei) VALUES ($1, $2, 0, 0, 0, 0, 0)`,
    [NETWORK_CODE[network], generation],
  )
  await writer.query(`SET search_path = ${schema}`)
}

/**
 * Inputs of the next entries of a generation, with journalled times as causes.
 * @param schema schema of the journal, with its dot; default: by the search path
 */
export async function readEntries(
  reader: pg.ClientBase,
  network: Network,
  generation: number,
  after: number,
  schema = '',
): Promise<Entry[]> {
  const { rows } = await reader.query<Columns>(
    `SELECT seq, kind, chain, block, log_index, tx_key::text AS tx_key, at_ms, body, ruleset FROM ${schema}${leaf('journal', network)}
     WHERE network = $1 AND generation = $2 AND seq > $3 ORDER BY seq LIMIT ${BATCH_ENTRIES}`,
    [NETWORK_CODE[network], generation, after],
  )
  return rows.map((row) => ({
    kind: entryKind(row.kind),
    position: row.chain === null ? null : { chain: row.chain, block: row.block!, logIndex: row.log_index! },
    txKey: row.tx_key === null ? null : BigInt(row.tx_key),
    causeMs: row.at_ms,
    body: row.body,
    ruleset: row.ruleset,
  }))
}
