import { createHash, type Hash } from 'node:crypto'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { leaf, type StateTable } from '../pg/partitions.js'

/**
 * State columns per table, in primary-key order. Facts, tracked transactions, deliveries and sessions are no state; of
 * the journal, only computed columns are.
 */
const STATE: readonly { table: StateTable; columns: string; order: string }[] = [
  { table: 'names', columns: 'network, seq, tx_key, name, cluster, outcome, updated_seq', order: 'seq' },
  { table: 'clusters', columns: 'network, serial, id, created_seq', order: 'serial' },
  {
    table: 'wallets',
    columns: 'network, cluster, address, name, verified, private, backed_up, created_seq, updated_seq',
    order: 'cluster, address',
  },
  { table: 'communities', columns: 'network, name, seq', order: 'name, seq' },
  {
    table: 'community_names',
    columns: 'network, community, name, address, verified, assigned, seq',
    order: 'community, name',
  },
]

/**
 * State hash of a network: SHA-256 over the state tables and each journal entry's (seq, public_first, public_count,
 * effects) in PostgreSQL's binary COPY format, which prefixes columns with their length. Concurrent writers require a
 * REPEATABLE READ transaction. The search path selects the tables.
 */
export async function stateHash(client: pg.ClientBase, network: Network, generation: number): Promise<string> {
  const hash = createHash('sha256')
  for (const { table, columns, order } of STATE) {
    await hashQuery(
      client,
      hash,
      `SELECT ${columns} FROM ${leaf(table, network)} WHERE network = ${NETWORK_CODE[network]} ORDER BY ${order}`,
    )
  }
  await hashQuery(
    client,
    hash,
    `SELECT seq, public_first, public_count, effects FROM ${leaf('journal', network)}
     WHERE network = ${NETWORK_CODE[network]} AND generation = ${generation} ORDER BY seq`,
  )
  return hash.digest('hex')
}

async function hashQuery(client: pg.ClientBase, hash: Hash, sql: string): Promise<void> {
  for await (const chunk of client.query(copyTo(`COPY (${sql}) TO STDOUT (FORMAT binary)`)))
    hash.update(chunk as Buffer)
}
