import type pg from 'pg'
import type { Network } from '../../registry/primitives/network.js'
import { leaf } from '../pg/partitions.js'
import { inTransaction } from '../pg/pool.js'
import type { Queryable } from '../pg/rows.js'
import { lockHead } from './head.js'

/** Entries per partition of a network's journal, as the migration cuts the first two; never changed. */
export const PARTITION_ENTRIES = 10_000_000

/** Number of the partition that holds a sequence number. */
const partitionOf = (seq: number): number => Math.floor(seq / PARTITION_ENTRIES)

/**
 * Makes the partitions for a sequence number and for the one after its partition, where they are missing. A partition
 * is attached, which blocks neither readers nor writers of the others. Requires the locked head, and the right to
 * create tables once per partition.
 * @returns how many were made
 */
async function makePartitions(client: pg.ClientBase, network: Network, seq: number): Promise<number> {
  const number = partitionOf(seq)
  let made = 0
  for (const next of [number, number + 1]) if (await makePartition(client, network, next)) made += 1
  return made
}

/** Tells whether an append from one sequence number to another begins a partition. */
const beginsPartition = (from: number, to: number): boolean => partitionOf(from) !== partitionOf(to)

/** Makes partitions ahead of an append that begins another one. */
export async function makePartitionsAhead(
  client: pg.ClientBase,
  network: Network,
  from: number,
  to: number,
): Promise<void> {
  if (beginsPartition(from, to)) await makePartitions(client, network, to)
}

async function makePartition(client: pg.ClientBase, network: Network, number: number): Promise<boolean> {
  const journal = `public.${leaf('journal', network)}`
  const name = `${journal}_${number}`
  if (await exists(client, name)) return false
  // the copy has the first one's own index, too, which no partitioned index covers
  await client.query(`CREATE TABLE ${name} (LIKE ${journal}_0 INCLUDING ALL)`)
  const [from, to] = [number * PARTITION_ENTRIES, (number + 1) * PARTITION_ENTRIES]
  await client.query(`ALTER TABLE ${journal} ATTACH PARTITION ${name} FOR VALUES FROM (${from}) TO (${to})`)
  return true
}

async function exists(db: Queryable, name: string): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [name])
  return rows[0]!.found
}

/** Makes the journal's next partition where it is missing: signed changes may fill one while no block comes. */
export function makeRoom(pool: pg.Pool, network: Network): Promise<number> {
  return inTransaction(pool, async (client) => {
    const { seq } = await lockHead(client, network, null)
    return makePartitions(client, network, seq)
  })
}
