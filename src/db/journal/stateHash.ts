import { createHash, type Hash } from 'node:crypto'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { partitionName, STATE_TABLES, type StateTable } from './partitions.js'

/**
 * Columns of each table that are hashed after `network`: first the key columns, by which the rows are ordered, then the
 * other columns.
 */
const HASHED_COLUMNS: Record<StateTable, readonly [key: string, ...others: string[]]> = {
  names: ['seq', 'tx_key, name, cluster, outcome, updated_seq'],
  clusters: ['serial', 'id, created_seq'],
  wallets: ['cluster, address', 'name, verified, private, backed_up, created_seq, updated_seq'],
  communities: ['name, seq'],
  community_names: ['community, name', 'address, verified, assigned, seq'],
  moves: ['source', 'target, seq, actor'],
}

/**
 * State hash of a network: SHA-256 over the state tables and each journal entry's (seq, public_first, public_count,
 * effects) in PostgreSQL's binary COPY format, which prefixes columns with their length. Concurrent writers require a
 * REPEATABLE READ transaction. The search path selects the tables.
 */
export async function computeStateHash(
  client: pg.ClientBase,
  network: Network,
  generation: number,
): Promise<string> {
  const hash = createHash('sha256')
  await hashTables(client, hash, network)
  const code = NETWORK_CODE[network]
  const entries = `${partitionName('journal', network)} WHERE network = ${code} AND generation = ${generation}`
  await hashQuery(
    client,
    hash,
    `SELECT seq, public_first, public_count, effects FROM ${entries} ORDER BY seq`,
  )
  return hash.digest('hex')
}

async function hashTables(client: pg.ClientBase, hash: Hash, network: Network): Promise<void> {
  const code = NETWORK_CODE[network]
  for (const table of STATE_TABLES) {
    const rows = `FROM ${partitionName(table, network)} WHERE network = ${code} ORDER BY ${HASHED_COLUMNS[table][0]}`
    // the table `moves` is left out while it is empty, so the hash equals that of versions without moves
    if (table === 'moves' && (await client.query(`SELECT ${rows} LIMIT 1`)).rowCount === 0) continue
    await hashQuery(
      client,
      hash,
      `SELECT ${['network', ...HASHED_COLUMNS[table]].join(', ')} ${rows}`,
    )
  }
  // columns that were added later are hashed only in rows that have a value, so the hash without values stays the same
  const hashSet = async (table: 'community_names' | 'wallets', column: string): Promise<void> => {
    const set = `FROM ${partitionName(table, network)} WHERE network = ${code} AND ${column} IS NOT NULL`
    if ((await client.query(`SELECT ${set} LIMIT 1`)).rowCount === 0) return
    const key = HASHED_COLUMNS[table][0]
    await hashQuery(client, hash, `SELECT ${key}, ${column} ${set} ORDER BY ${key}`)
  }
  await hashSet('community_names', 'claim')
  await hashSet('wallets', 'evidence_seq')
}

async function hashQuery(client: pg.ClientBase, hash: Hash, sql: string): Promise<void> {
  for await (const chunk of client.query(copyTo(`COPY (${sql}) TO STDOUT (FORMAT binary)`)))
    hash.update(chunk as Buffer)
}
