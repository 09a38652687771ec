import { createHash, type Hash } from 'node:crypto'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { leaf, type StateTable } from '../pg/partitions.js'

/**
 * The columns that are state, a table, in primary-key order. Facts, tracked transactions, deliveries and sessions are
 * not state; of the journal, only what the fold computes is.
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
 * A network's state hash: SHA-256 over the state tables and over each journal entry's (seq, public_first, public_count,
 * effects), as PostgreSQL's binary COPY writes them, which prefixes every column with its length.
 * Run it in a REPEATABLE READ transaction where anybody writes meanwhile. The tables are found by the search path.
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
