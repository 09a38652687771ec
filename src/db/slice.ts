import type pg from 'pg'
import { keyOf } from '../registry/bytes.js'
import { clusterId } from '../registry/clusterId.js'
import type { Head, Keys, Slice } from '../registry/fold.js'
import { NETWORK_CODE, type Network } from '../registry/network.js'
import { leaf } from './tables.js'

interface WalletColumns {
  address: Buffer
  cluster: number
  name: string
  private: boolean
  backed_up: boolean
}

/** Numbers probed at once for a wallet that has created clusters before. */
const PROBE_WINDOW = 16

/**
 * Loads the rows that a batch reads, in a few statements whatever its size. The head has to be locked by then.
 * @param firstIds ids of wallets' first clusters, if they have been made already (`firstClusterIds`)
 */
export async function loadSlice(
  client: pg.ClientBase,
  network: Network,
  head: Head,
  keys: Keys,
  firstIds?: ReadonlyMap<string, Buffer>,
): Promise<Slice> {
  const slice: Slice = { network, head, owners: new Map(), verified: new Map(), nextClusterNumber: new Map() }
  const code = NETWORK_CODE[network]
  // While a young table has no statistics, the planner may read all of it, once a batch, and keep that plan. So every probe
  // is one of a single key (LATERAL ... LIMIT 1), whose only cheap plan is the unique index, whatever the table's size.
  await client.query('SET LOCAL enable_seqscan = off')
  if (keys.names.size > 0) {
    const text = `SELECT n.name, n.cluster FROM unnest($1::text[]) k(name) CROSS JOIN LATERAL (
      SELECT name, cluster FROM ${leaf('names', network)}
      WHERE network = ${code} AND outcome = 1 AND name = k.name COLLATE "C" LIMIT 1) n`
    const { rows } = await client.query<{ name: string; cluster: number }>({
      name: `owners_${network}`,
      text,
      values: [[...keys.names]],
    })
    for (const row of rows) slice.owners.set(row.name, row.cluster)
  }
  if (keys.wallets.size > 0) {
    const text = `SELECT w.* FROM unnest($1::bytea[]) k(address) CROSS JOIN LATERAL (
      SELECT address, cluster, name, private, backed_up FROM ${leaf('wallets', network)}
      WHERE network = ${code} AND verified AND address = k.address LIMIT 1) w`
    const addresses = [...keys.wallets].map((key) => Buffer.from(key, 'latin1'))
    const { rows } = await client.query<WalletColumns>({ name: `verified_${network}`, text, values: [addresses] })
    for (const row of rows) {
      slice.verified.set(keyOf(row.address), {
        cluster: row.cluster,
        name: row.name,
        isPrivate: row.private,
        isBackedUp: row.backed_up,
      })
    }
    const creators = addresses.filter((address) => !slice.verified.has(keyOf(address)))
    await findFreeIds(client, slice, creators, firstIds)
  }
  return slice
}

/**
 * Finds the smallest free cluster number of each wallet, and its id. The ids taken by a creator are those of 0 … k-1, so
 * the first gap ends the search.
 */
async function findFreeIds(
  client: pg.ClientBase,
  slice: Slice,
  creators: Buffer[],
  firstIds?: ReadonlyMap<string, Buffer>,
): Promise<void> {
  const { network } = slice
  slice.nextClusterId = new Map()
  const text = `SELECT c.id FROM unnest($1::bytea[]) k(id) CROSS JOIN LATERAL (
    SELECT id FROM ${leaf('clusters', network)} WHERE network = ${NETWORK_CODE[network]} AND id = k.id LIMIT 1) c`
  let open = creators.map((creator) => ({ creator, from: 0, window: 1 }))
  while (open.length > 0) {
    const ids = open.map(({ creator, from, window }) => {
      const first = from === 0 && window === 1 ? firstIds?.get(keyOf(creator)) : undefined
      return first ? [first] : Array.from({ length: window }, (_, i) => clusterId(network, creator, from + i))
    })
    const { rows } = await client.query<{ id: Buffer }>({ name: `cluster_ids_${network}`, text, values: [ids.flat()] })
    const taken = new Set(rows.map((row) => keyOf(row.id)))
    const still: typeof open = []
    for (const [i, { creator, from, window }] of open.entries()) {
      const free = taken.size === 0 ? 0 : ids[i]!.findIndex((id) => !taken.has(keyOf(id)))
      if (free < 0) {
        still.push({ creator, from: from + window, window: PROBE_WINDOW })
        continue
      }
      const key = keyOf(creator)
      slice.nextClusterNumber.set(key, from + free)
      slice.nextClusterId.set(key, ids[i]![free]!)
    }
    open = still
  }
}
