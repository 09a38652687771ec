import type pg from 'pg'
import type { Keys, Slice } from '../../registry/fold/index.js'
import { keyOf } from '../../registry/primitives/bytes.js'
import { NETWORK_CODE } from '../../registry/primitives/network.js'
import { leaf } from '../pg/partitions.js'

/**
 * Loads the clusters that a batch reads whole into its slice: those that are named by id, those where actors are
 * verified, those of privately verified wallets, those that hold the communities it is about. Nothing where there are
 * none, as in nearly every batch of bids.
 */
export async function loadClusters(client: pg.ClientBase, slice: Slice, keys: Keys): Promise<void> {
  if (keys.clusterIds.size > 0) await findSerials(client, slice, [...keys.clusterIds])
  const whole = new Set(slice.clusterSerials.values())
  for (const [key, { cluster, isPrivate }] of slice.verified) if (isPrivate || keys.actors.has(key)) whole.add(cluster)
  for (const community of keys.communities.keys()) {
    const holder = slice.owners.get(community)
    if (holder !== undefined) whole.add(holder)
  }
  if (whole.size === 0) return
  for (const serial of whole) slice.clusters.set(serial, { wallets: new Map(), names: [] })
  await readWallets(client, slice)
  await readNames(client, slice)
}

async function findSerials(client: pg.ClientBase, slice: Slice, ids: readonly string[]): Promise<void> {
  const { rows } = await client.query<{ id: Buffer; serial: number }>(
    `SELECT id, serial FROM ${leaf('clusters', slice.network)} WHERE network = $1 AND id = ANY($2::bytea[])`,
    [NETWORK_CODE[slice.network], ids.map((key) => Buffer.from(key, 'latin1'))],
  )
  for (const { id, serial } of rows) slice.clusterSerials.set(keyOf(id), serial)
}

interface WalletColumns {
  cluster: number
  address: Buffer
  name: string
  verified: boolean
  private: boolean
  backed_up: boolean
  created_seq: number
  updated_seq: number
}

async function readWallets(client: pg.ClientBase, slice: Slice): Promise<void> {
  const { rows } = await client.query<WalletColumns>(
    `SELECT w.cluster, w.address, w.name, w.verified, w.private, w.backed_up, w.created_seq, w.updated_seq
     FROM unnest($2::int8[]) AS k(serial)
     JOIN ${leaf('wallets', slice.network)} w ON w.network = $1 AND w.cluster = k.serial`,
    [NETWORK_CODE[slice.network], [...slice.clusters.keys()]],
  )
  for (const row of rows) {
    slice.clusters.get(row.cluster)!.wallets.set(keyOf(row.address), {
      cluster: row.cluster,
      address: row.address,
      name: row.name,
      isVerified: row.verified,
      isPrivate: row.private,
      isBackedUp: row.backed_up,
      createdSeq: row.created_seq,
      updatedSeq: row.updated_seq,
    })
  }
}

async function readNames(client: pg.ClientBase, slice: Slice): Promise<void> {
  const { rows } = await client.query<{ cluster: number; name: string; seq: number }>(
    `SELECT n.cluster, n.name, n.seq FROM unnest($2::int8[]) AS k(serial)
     JOIN ${leaf('names', slice.network)} n ON n.network = $1 AND n.cluster = k.serial AND n.outcome = 1
     ORDER BY n.seq`,
    [NETWORK_CODE[slice.network], [...slice.clusters.keys()]],
  )
  for (const { cluster, name, seq } of rows) slice.clusters.get(cluster)!.names.push({ name, seq })
}
