import type pg from 'pg'
import { FatalError } from '../../ops/worker.js'
import type { Head } from '../../registry/fold/index.js'
import type { Network } from '../../registry/primitives/network.js'
import { execute, type Queryable, query } from '../pg/rows.js'

/** Thrown when another process leads the network, so that this one stops writing. */
export class LostLeadershipError extends FatalError {
  override name = 'LostLeadershipError'
  constructor(network: Network, role: 'index' | 'relay' = 'index') {
    super(`another process leads the ${role === 'index' ? 'indexing' : 'deliveries'} of ${network} now`)
  }
}

export interface StoredHead extends Head {
  indexEpoch: number
  caughtUp: boolean
}

const SELECT_HEAD = `SELECT generation, seq, public_seq, at_ms, serial, minimum_wei, index_epoch, caught_up
  FROM journal_heads WHERE network = $1`
const LOCK_HEAD = { name: 'lock_head', text: `${SELECT_HEAD} FOR UPDATE` }

/** Reads a network's head without a lock. */
export async function readHead(db: Queryable, network: Network): Promise<StoredHead> {
  return only(await query(db, network, SELECT_HEAD), network)
}

/** Locks a network's head until the transaction ends; reads that follow see the previous writer's commit. */
export async function lockHead(client: pg.ClientBase, network: Network): Promise<StoredHead> {
  return only(await query(client, network, LOCK_HEAD), network)
}

const WRITE_HEAD = {
  name: 'write_head',
  text: 'UPDATE journal_heads SET seq = $2, public_seq = $3, at_ms = $4, serial = $5, minimum_wei = $6 WHERE network = $1',
}

/** Moves a locked head. */
export async function writeHead(client: pg.ClientBase, network: Network, head: Head): Promise<void> {
  await execute(client, network, WRITE_HEAD, [head.seq, head.publicSeq, head.atMs, head.serial, head.minimumWei])
}

/** Records that the leader of this epoch has folded the hub up to the confirmed head at its start. */
export async function markCaughtUp(pool: pg.Pool, network: Network, epoch: number): Promise<void> {
  const sql = 'UPDATE journal_heads SET caught_up = true WHERE network = $1 AND index_epoch = $2 AND NOT caught_up'
  await execute(pool, network, sql, [epoch])
}

/** A check that blocks a change of a role's leader until the transaction ends. */
function assertEpoch(role: 'index' | 'relay') {
  const text = `SELECT 1 FROM journal_heads WHERE network = $1 AND ${role}_epoch = $2 FOR SHARE`
  return async (db: Queryable, network: Network, epoch: number): Promise<void> => {
    const count = await execute(db, network, { name: `assert_${role}_leader`, text }, [epoch])
    if (count !== 1) throw new LostLeadershipError(network, role)
  }
}

/** Keeps the indexing leader until the transaction ends. @throws LostLeadershipError when another process leads */
export const assertLeader = assertEpoch('index')

/** Keeps the relaying leader until the transaction ends. @throws LostLeadershipError when another process leads */
export const assertRelayer = assertEpoch('relay')

function only([head]: StoredHead[], network: Network): StoredHead {
  if (!head) throw new Error(`journal_heads has no row for ${network}: run \`clusterd migrate\``)
  return head
}
