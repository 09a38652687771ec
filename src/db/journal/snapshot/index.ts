import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../../../registry/primitives/network.js'
import { lockKeys } from '../../pg/codes.js'
import { leaf, STATE_TABLES } from '../../pg/partitions.js'
import { type Queryable, query, readRows } from '../../pg/rows.js'
import { readHead } from '../head.js'
import { tablesHash } from '../stateHash.js'

/**
 * Tables of a network as the first entries of its journal give them, kept in a schema of their own: a replay or a
 * rewind goes on from there. `clusterd replay --keep` and the leading indexer (`keep.ts`) make them where both hashes
 * are the same.
 */
export interface Snapshot {
  schema: string
  generation: number
  /** Number of the last entry that they are folded from. */
  seq: number
  /** Hash over the effects of the entries up to that one (`entriesHash`), hex; null where files alone had some. */
  entries: string | null
}

/** Entries that a snapshot lies behind the journal's end: a rewind begins before the newest. */
export const SNAPSHOT_BEHIND = 20_000

const schemaOf = (network: Network): string => `snapshot_${network}`

/** Copies the tables that a replay has folded so far, in the search path, to a schema for `commitSnapshot`. */
export async function copySnapshot(
  client: pg.ClientBase,
  network: Network,
  { schema, entries }: Pick<Snapshot, 'schema' | 'entries'>,
): Promise<void> {
  await client.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
  await client.query(`CREATE SCHEMA ${schema}`)
  for (const table of STATE_TABLES)
    await client.query(`CREATE TABLE ${schema}.${leaf(table, network)} AS TABLE ${leaf(table, network)}`)
  await client.query(`CREATE TABLE ${schema}.journal_heads AS TABLE journal_heads`)
  const tables = await tablesHash(client, network)
  await client.query(
    `CREATE TABLE ${schema}.verified AS SELECT ${entries === null ? 'NULL' : `'${entries}'`}::text AS entries, '${tables}' AS tables`,
  )
}

/** Held while a snapshot is replaced, and shared while it is read: its tables stay those of one entry. */
const IN_USE = 'SELECT pg_advisory_xact_lock_shared($1, $2)'
const REPLACED = 'SELECT pg_advisory_xact_lock($1, $2)'

/** Puts a copy whose replay was found right in the place of the network's snapshot. */
export async function commitSnapshot(client: pg.ClientBase, network: Network, schema: string): Promise<void> {
  await client.query('BEGIN')
  await client.query(REPLACED, [...lockKeys(network, 'snapshot')])
  await client.query(`DROP SCHEMA IF EXISTS ${schemaOf(network)} CASCADE`)
  await client.query(`ALTER SCHEMA ${schema} RENAME TO ${schemaOf(network)}`)
  await client.query('COMMIT')
}

/** Where a snapshot's tables go. */
export interface Filled {
  /** Of the empty tables. */
  schema: string
  generation: number
  /** Number of the last entry that the snapshot may be folded from. */
  atMost: number
}

/**
 * Fills a schema's empty tables from the snapshot of the generation, and sets their head, if there is one whose tables
 * are what they were when they were kept. @returns the snapshot, null where there is none
 */
export async function fillFromSnapshot(
  client: pg.ClientBase,
  network: Network,
  into: Filled,
): Promise<Snapshot | null> {
  await client.query('BEGIN')
  await client.query(IN_USE, [...lockKeys(network, 'snapshot')])
  const found = await findSnapshot(client, network, into)
  if (found) await fillFrom(client, network, found, into.schema)
  await client.query('COMMIT')
  return found
}

/** How many entries the journal of a network that has caught up has beyond its snapshot; 0 during the catch-up. */
export async function entriesBeyond(db: Queryable, network: Network): Promise<number> {
  const { generation, seq, caughtUp } = await readHead(db, network)
  if (!caughtUp) return 0
  const kept = await readKept(db, network)
  return seq - (kept?.generation === generation ? kept.seq : 0)
}

type Kept = Omit<Snapshot, 'schema'> & { tables: string }

/** What the snapshot says of itself, if there is one. */
async function readKept(db: Queryable, network: Network): Promise<Kept | null> {
  const schema = schemaOf(network)
  const text = 'SELECT to_regclass($1) IS NOT NULL AS found'
  const [known] = await readRows<{ found: boolean }>(db, text, [`${schema}.verified`])
  if (!known!.found) return null
  const kept = `SELECT h.generation, h.seq, v.entries, v.tables FROM ${schema}.journal_heads h, ${schema}.verified v
    WHERE h.network = $1`
  return (await query<Kept>(db, network, kept))[0] ?? null
}

async function findSnapshot(client: pg.ClientBase, network: Network, into: Filled): Promise<Snapshot | null> {
  const schema = schemaOf(network)
  const kept = await readKept(client, network)
  if (!kept || kept.generation !== into.generation || kept.seq > into.atMost) return null
  if (!(await hasSameColumns(client, network, schema))) return null
  const { tables, ...found } = kept
  return (await tablesHash(client, network, `${schema}.`)) === tables ? { schema, ...found } : null
}

/** Whether the tables have the columns of the live ones: a migration may have come between. */
async function hasSameColumns(client: pg.ClientBase, network: Network, schema: string): Promise<boolean> {
  const columns = `SELECT table_name, column_name, ordinal_position, data_type FROM information_schema.columns
    WHERE table_name = ANY ($2) AND table_schema =`
  const { rows } = await client.query<{ same: boolean }>(
    `SELECT NOT EXISTS ((${columns} $1) EXCEPT (${columns} 'public')) AND NOT EXISTS ((${columns} 'public') EXCEPT (${columns} $1)) AS same`,
    [schema, [...STATE_TABLES.map((table) => leaf(table, network)), 'journal_heads']],
  )
  return rows[0]!.same
}

async function fillFrom(client: pg.ClientBase, network: Network, { schema }: Snapshot, into: string): Promise<void> {
  for (const table of STATE_TABLES) {
    const name = leaf(table, network)
    await client.query(`INSERT INTO ${into}.${name} SELECT * FROM ${schema}.${name}`)
  }
  await client.query(
    `UPDATE ${into}.journal_heads h SET seq = s.seq, public_seq = s.public_seq, at_ms = s.at_ms, serial = s.serial,
       minimum_wei = s.minimum_wei
     FROM ${schema}.journal_heads s WHERE h.network = $1 AND s.network = $1`,
    [NETWORK_CODE[network]],
  )
}
