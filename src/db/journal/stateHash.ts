import { createHash, type Hash } from 'node:crypto'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { leaf, STATE_TABLES, type StateTable } from '../pg/partitions.js'

/** Columns of the tables that the fold computes; facts, tracked transactions, deliveries and sessions are no state. */
export const STATE_COLUMNS = {
  names: 'network, seq, tx_key, name, cluster, outcome, updated_seq',
  clusters: 'network, serial, id, created_seq',
  wallets: 'network, cluster, address, name, verified, private, backed_up, created_seq, updated_seq',
  communities: 'network, name, seq',
  community_names: 'network, community, name, address, verified, assigned, seq',
  moves: 'network, source, target, seq, actor',
} as const satisfies Record<StateTable, string>

/** Their primary keys after the network. */
const ORDER: Record<StateTable, string> = {
  names: 'seq',
  clusters: 'serial',
  wallets: 'cluster, address',
  communities: 'name, seq',
  community_names: 'community, name',
  moves: 'source',
}

/**
 * State hash of a network: SHA-256 over the state tables and each journal entry's (seq, public_first, public_count,
 * effects) in PostgreSQL's binary COPY format, which prefixes columns with their length. Concurrent writers require a
 * REPEATABLE READ transaction. The search path selects the tables.
 * @param after leaves out the entries up to this one, which the tables rest on all the same
 */
export async function stateHash(
  client: pg.ClientBase,
  network: Network,
  generation: number,
  after = 0,
): Promise<string> {
  const hash = createHash('sha256')
  await hashTables(client, hash, network)
  await hashEntries(client, hash, network, `generation = ${generation} AND seq > ${after}`)
  return hash.digest('hex')
}

/** Hash over the state tables alone, hex. @param schema with its dot; default: by the search path */
export async function tablesHash(client: pg.ClientBase, network: Network, schema = ''): Promise<string> {
  const hash = createHash('sha256')
  await hashTables(client, hash, network, schema)
  return hash.digest('hex')
}

/** Hash over the effects of a generation's entries from one, by default the first, up to another, hex. */
export async function entriesHash(
  client: pg.ClientBase,
  network: Network,
  generation: number,
  { from = 1, upTo }: { from?: number; upTo: number },
): Promise<string> {
  const hash = createHash('sha256')
  await hashEntries(client, hash, network, `generation = ${generation} AND seq BETWEEN ${from} AND ${upTo}`)
  return hash.digest('hex')
}

async function hashTables(client: pg.ClientBase, hash: Hash, network: Network, schema = ''): Promise<void> {
  const code = NETWORK_CODE[network]
  for (const table of STATE_TABLES) {
    const rows = `FROM ${schema}${leaf(table, network)} WHERE network = ${code} ORDER BY ${ORDER[table]}`
    // without a move the hash is that of the time before moves
    if (table === 'moves' && (await client.query(`SELECT ${rows} LIMIT 1`)).rowCount === 0) continue
    await hashQuery(client, hash, `SELECT ${STATE_COLUMNS[table]} ${rows}`)
  }
}

async function hashEntries(client: pg.ClientBase, hash: Hash, network: Network, which: string): Promise<void> {
  const entries = `FROM ${leaf('journal', network)} WHERE network = ${NETWORK_CODE[network]} AND ${which} ORDER BY seq`
  await hashQuery(client, hash, `SELECT seq, public_first, public_count, effects ${entries}`)
}

async function hashQuery(client: pg.ClientBase, hash: Hash, sql: string): Promise<void> {
  for await (const chunk of client.query(copyTo(`COPY (${sql}) TO STDOUT (FORMAT binary)`)))
    hash.update(chunk as Buffer)
}
