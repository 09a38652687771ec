import type pg from 'pg'
import { NETWORK_CODE, type Network } from '../../../registry/primitives/network.js'
import { leaf, STATE_TABLES } from '../../pg/partitions.js'
import { query } from '../../pg/rows.js'
import { tablesHash } from '../stateHash.js'

/**
 * Tables of a network as the first entries of its journal give them, kept in a schema of their own: a replay or a
 * rewind goes on from there. `clusterd replay --keep` makes them where both its hashes are the same.
 */
export interface Snapshot {
  schema: string
  generation: number
  /** Number of the last entry that they are folded from. */
  seq: number
  /** Hash over the effects of the entries up to that one (`entriesHash`), hex. */
  entries: string
}

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
  await client.query(`CREATE TABLE ${schema}.verified AS SELECT '${entries}' AS entries, '${tables}' AS tables`)
}

/** Puts a copy whose replay was found right in the place of the network's snapshot. */
export async function commitSnapshot(client: pg.ClientBase, network: Network, schema: string): Promise<void> {
  await client.query('BEGIN')
  await client.query(`DROP SCHEMA IF EXISTS ${schemaOf(network)} CASCADE`)
  await client.query(`ALTER SCHEMA ${schema} RENAME TO ${schemaOf(network)}`)
  await client.query('COMMIT')
}

/**
 * The snapshot of a network's generation, if its tables are what they were when they were kept.
 * @param atMost number of the last entry that it may be folded from
 */
export async function findSnapshot(
  client: pg.ClientBase,
  network: Network,
  generation: number,
  atMost: number,
): Promise<Snapshot | null> {
  const schema = schemaOf(network)
  const { rows } = await client.query<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [
    `${schema}.verified`,
  ])
  if (!rows[0]!.found || !(await hasSameColumns(client, network, schema))) return null
  const text = `SELECT h.generation, h.seq, v.entries, v.tables FROM ${schema}.journal_heads h, ${schema}.verified v
    WHERE h.network = $1`
  const [found] = await query<Snapshot & { tables: string }>(client, network, text)
  if (!found || found.generation !== generation || found.seq > atMost) return null
  if ((await tablesHash(client, network, `${schema}.`)) !== found.tables) return null
  return { schema, generation, seq: found.seq, entries: found.entries }
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

/** Fills the empty tables of a schema, in the search path, from a snapshot, and sets its head. */
export async function fillFrom(
  client: pg.ClientBase,
  network: Network,
  { schema }: Snapshot,
  into: { schema: string },
): Promise<void> {
  for (const table of STATE_TABLES) {
    const name = leaf(table, network)
    await client.query(`INSERT INTO ${into.schema}.${name} SELECT * FROM ${schema}.${name}`)
  }
  await client.query(
    `UPDATE ${into.schema}.journal_heads h SET seq = s.seq, public_seq = s.public_seq, at_ms = s.at_ms, serial = s.serial,
       minimum_wei = s.minimum_wei
     FROM ${schema}.journal_heads s WHERE h.network = $1 AND s.network = $1`,
    [NETWORK_CODE[network]],
  )
}
