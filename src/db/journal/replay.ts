import type pg from 'pg'
import { decodeEntry } from '../../registry/journal/decode.js'
import { ENTRY_KIND, type Entry, entryKindOfCode } from '../../registry/journal/entry.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import type { Journal } from '../generated/client.js'
import { readMirroredNetworks } from '../mirror/mirrors.js'
import { type DecodedRow, query } from '../pg/rows.js'
import { BEGIN_STATEMENT, liveSchemaName } from '../pg/session.js'
import { appendEntries } from './append.js'
import { withTemporarySchema } from './exclusiveSchema.js'
import { readJournalHead } from './head.js'
import { type PartitionedTable, partitionName, STATE_TABLES } from './partitions.js'
import { computeStateHash } from './stateHash.js'

const BATCH_ENTRIES = 5_000
/** Maximum number of `move_names` entries in a batch. Each moves up to `namesPerEntry` names (a thousand). */
const BATCH_MOVE_ENTRIES = 16

export interface ReplayHashes {
  network: Network
  generation: number
  entries: number
  /** State hash of the live tables, hex. */
  live: string
  /** State hash of the rebuilt tables, hex. */
  rebuilt: string
}

/** Columns of a journal entry from which the entry is folded again. */
interface StoredInputColumns
  extends Pick<DecodedRow<Journal>, 'kind' | 'chain' | 'block' | 'logIndex' | 'body' | 'ruleset'> {
  causeMs: number
  txKey: string | null
}

const MIRROR_REPLAY_MESSAGE =
  'a mirror copies a signed log, which has no inputs to fold. `clusterd log verify` proves the log, and a lost mirror starts anew from its source.'

/** Number of newest entries that are left for the final transaction, which also hashes the tables. */
const ENTRIES_LEFT_TO_COMPARE = 1_000

/**
 * Rebuilds a network's tables from the journal's inputs (kind, position, time, body, ruleset) in another schema, and
 * hashes the live and the rebuilt tables. The daemon may run meanwhile. Entries never change, so most batches are read
 * outside a transaction. Only the newest entries and the live tables are read in one REPEATABLE READ transaction: a
 * snapshot that lasts for hours would keep VACUUM from removing dead versions of the head's row.
 * @throws Error for a mirrored network, when another replay of the network runs, and when a rewind began another
 * generation meanwhile
 */
export async function replayJournal(pool: pg.Pool, network: Network): Promise<ReplayHashes> {
  const reader = await pool.connect()
  try {
    if ((await readMirroredNetworks(reader)).has(network)) throw new Error(MIRROR_REPLAY_MESSAGE)
    return await withTemporarySchema(pool, network, 'replay', async (writer, schema) => {
      const { generation, seq } = await readJournalHead(reader, network)
      await createSchemaWithEmptyTables(writer, network, {
        schema,
        generation,
        tables: ['journal', ...STATE_TABLES],
      })
      await writer.query(`SET search_path = ${schema}`)
      const replayed = { reader, writer, network, generation, done: 0 }
      await rebuildUpTo(replayed, (head) => Math.max(seq, head - ENTRIES_LEFT_TO_COMPARE))
      await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
      await rebuildUpTo(replayed, (head) => head)
      const live = await computeStateHash(reader, network, generation)
      const rebuilt = await computeStateHash(writer, network, generation)
      return { network, generation, entries: replayed.done, live, rebuilt }
    })
  } finally {
    await reader.query('ROLLBACK').catch(() => {})
    reader.release()
  }
}

/** A replay of stored entries into the tables of another schema, as far as it has come. */
export interface ReplayIntoOtherSchema {
  reader: pg.ClientBase
  /** Connection whose search path is the other schema. */
  writer: pg.ClientBase
  network: Network
  generation: number
  /** Number of the last folded entry. */
  done: number
  /** Returns the entries to fold in place of a batch's entries. Default: the same entries. */
  keep?: (entries: readonly Entry[]) => Promise<readonly Entry[]>
}

/**
 * Folds the next batch of entries with their stored times, in the caller's transaction.
 * @throws Error where no entry is left
 */
export async function foldStoredBatch(
  replayed: ReplayIntoOtherSchema,
  limit = BATCH_ENTRIES,
): Promise<void> {
  const { writer, network, done, keep } = replayed
  const entries = await readEntries(replayed, Math.min(BATCH_ENTRIES, limit))
  if (entries.length === 0)
    throw new Error(`folding ${network} again: the journal ends at entry ${done}`)
  const kept = keep ? await keep(entries) : entries
  await appendEntries(writer, network, kept.map(decodeEntry), {
    writerMs: Number.POSITIVE_INFINITY,
  })
  replayed.done += entries.length
}

async function rebuildUpTo(
  replayed: ReplayIntoOtherSchema,
  endOf: (headSeq: number) => number,
): Promise<void> {
  const { reader, writer, network, generation } = replayed
  for (;;) {
    const head = await readJournalHead(reader, network)
    if (head.generation !== generation)
      throw new Error(`replaying ${network}: generation ${generation} has ended: run it again`)
    const left = endOf(head.seq) - replayed.done
    if (left <= 0) return
    await writer.query(BEGIN_STATEMENT)
    await foldStoredBatch(replayed, left)
    await writer.query('COMMIT')
  }
}

interface NewSchema {
  schema: string
  generation: number
  tables: readonly PartitionedTable[]
  kind?: 'TABLE' | 'UNLOGGED TABLE'
  /** Additional constraint of each table, beginning with a comma. */
  check?: string
}

/** Creates the schema with empty tables, and the head row of a journal without entries. */
export async function createSchemaWithEmptyTables(
  writer: pg.ClientBase,
  network: Network,
  { schema, generation, tables, kind = 'UNLOGGED TABLE', check = '' }: NewSchema,
): Promise<void> {
  const live = liveSchemaName(writer)
  await writer.query(`CREATE SCHEMA ${schema}`)
  for (const table of tables) {
    const name = partitionName(table, network)
    await writer.query(
      `CREATE ${kind} ${schema}.${name} (LIKE ${live}.${name} INCLUDING ALL${check})`,
    )
  }
  await writer.query(
    `CREATE TABLE ${schema}.journal_heads (LIKE ${live}.journal_heads INCLUDING ALL)`,
  )
  await writer.query(
    `INSERT INTO ${schema}.journal_heads (network, generation, seq, public_seq, at_ms, serial, minimum_wei) VALUES ($1, $2, 0, 0, 0, 0, 0)`,
    [NETWORK_CODE[network], generation],
  )
}

/** Reads the journal's next entries. The search path of the connection has no effect on it. */
async function readEntries(
  { reader, network, generation, done }: ReplayIntoOtherSchema,
  limit: number,
): Promise<Entry[]> {
  const rows = await query<StoredInputColumns>(
    reader,
    network,
    `SELECT kind, chain, block, log_index, tx_key::text, at_ms AS cause_ms, body, ruleset FROM ${liveSchemaName(reader)}.${partitionName('journal', network)}
     WHERE network = $1 AND generation = $2 AND seq > $3 ORDER BY seq LIMIT $4`,
    [generation, done, limit],
  )
  const moveEntries = rows.flatMap(({ kind }, i) => (kind === ENTRY_KIND.move_names ? i : []))
  return rows
    .slice(0, moveEntries[BATCH_MOVE_ENTRIES])
    .map(({ kind, chain, block, logIndex, txKey, ...row }) => ({
      kind: entryKindOfCode(kind),
      position: chain === null ? null : { chain, block: block!, logIndex: logIndex! },
      txKey: txKey === null ? null : BigInt(txKey),
      ...row,
    }))
}
