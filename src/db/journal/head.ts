import type pg from 'pg'
import { FatalError } from '../../ops/worker.js'
import type { Head } from '../../registry/fold/index.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'

/** Another process has become this network's leader: stop writing. */
export class LostLeadershipError extends FatalError {
  override name = 'LostLeadershipError'
  constructor(network: Network, role: 'index' | 'relay' = 'index') {
    super(`another process leads the ${role === 'index' ? 'indexing' : 'deliveries'} of ${network} now`)
  }
}

interface HeadColumns {
  generation: number
  seq: number
  public_seq: number
  at_ms: number
  serial: number
  minimum_wei: string
  index_epoch: number
  caught_up: boolean
}

export interface StoredHead extends Head {
  indexEpoch: number
  caughtUp: boolean
}

const COLUMNS = 'generation, seq, public_seq, at_ms, serial, minimum_wei, index_epoch, caught_up'

/** Reads a network's head, without a lock. */
export async function readHead(client: pg.ClientBase | pg.Pool, network: Network): Promise<StoredHead> {
  return headOf(
    await client.query<HeadColumns>(`SELECT ${COLUMNS} FROM journal_heads WHERE network = $1`, [NETWORK_CODE[network]]),
    network,
  )
}

/**
 * Locks a network's head until the transaction ends. It has to be a statement of its own, before anything else is read:
 * under READ COMMITTED later statements then see what the previous writer committed.
 */
export async function lockHead(client: pg.ClientBase, network: Network): Promise<StoredHead> {
  const sql = `SELECT ${COLUMNS} FROM journal_heads WHERE network = $1 FOR UPDATE`
  return headOf(
    await client.query<HeadColumns>({ name: 'lock_head', text: sql, values: [NETWORK_CODE[network]] }),
    network,
  )
}

/** Moves a locked head. */
export async function writeHead(client: pg.ClientBase, network: Network, head: Head): Promise<void> {
  await client.query({
    name: 'write_head',
    text: 'UPDATE journal_heads SET seq = $2, public_seq = $3, at_ms = $4, serial = $5, minimum_wei = $6 WHERE network = $1',
    values: [NETWORK_CODE[network], head.seq, head.publicSeq, head.atMs, head.serial, head.minimumWei.toString()],
  })
}

/**
 * Remembers that the hub's confirmed head at start has been folded once in this generation, which the epoch's leader
 * indexed.
 */
export async function markCaughtUp(pool: pg.Pool, network: Network, epoch: number): Promise<void> {
  await pool.query(
    'UPDATE journal_heads SET caught_up = true WHERE network = $1 AND index_epoch = $2 AND NOT caught_up',
    [NETWORK_CODE[network], epoch],
  )
}

/**
 * Holds off a change of leader until the transaction ends, and fails when this process leads no more.
 * @throws LostLeadershipError
 */
export async function assertLeader(client: pg.ClientBase | pg.Pool, network: Network, epoch: number): Promise<void> {
  const sql = 'SELECT 1 FROM journal_heads WHERE network = $1 AND index_epoch = $2 FOR SHARE'
  const { rowCount } = await client.query({ name: 'assert_leader', text: sql, values: [NETWORK_CODE[network], epoch] })
  if (rowCount !== 1) throw new LostLeadershipError(network)
}

/**
 * The same for the relayer.
 * @throws LostLeadershipError
 */
export async function assertRelayer(client: pg.ClientBase, network: Network, epoch: number): Promise<void> {
  const sql = 'SELECT 1 FROM journal_heads WHERE network = $1 AND relay_epoch = $2 FOR SHARE'
  const { rowCount } = await client.query({ name: 'assert_relayer', text: sql, values: [NETWORK_CODE[network], epoch] })
  if (rowCount !== 1) throw new LostLeadershipError(network, 'relay')
}

function headOf(result: pg.QueryResult<HeadColumns>, network: Network): StoredHead {
  const row = result.rows[0]
  if (!row) throw new Error(`journal_heads has no row for ${network}: run \`clusterd migrate\``)
  return {
    generation: row.generation,
    seq: row.seq,
    publicSeq: row.public_seq,
    atMs: row.at_ms,
    serial: row.serial,
    minimumWei: BigInt(row.minimum_wei),
    indexEpoch: row.index_epoch,
    caughtUp: row.caught_up,
  }
}
