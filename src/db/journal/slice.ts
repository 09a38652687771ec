import type pg from 'pg'
import type { Head, Keys, Slice } from '../../registry/fold/index.js'
import { clusterId } from '../../registry/primitives/clusterId.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { BYTEA_OID, binaryArray, TEXT_OID } from '../pg/arrays.js'
import { leaf } from '../pg/partitions.js'
import { pipelined } from '../pg/pipeline.js'
import { holderOf } from '../pg/prepared.js'
import { type Queryable, readRows } from '../pg/rows.js'
import { loadMoves } from './moves/load.js'
import { chooseClusters, findSerials, loadClusters } from './sliceClusters.js'
import { loadCommunities } from './sliceCommunities.js'

/** Row found by a probe: its table, and the position of its key, from 1. */
interface Found {
  source: 'owner' | 'wallet' | 'cluster'
  ord: number
  cluster: number
  private: boolean | null
}

/** Numbers per probe for a wallet that has created clusters before: with a probe more it may have 16 times as many. */
const PROBE_WIDTH = 16

/** Findings of the first statements of a slice, by keys. */
export interface Probed {
  keys: Keys
  names: readonly string[]
  wallets: readonly string[]
  found: readonly Found[]
  serials: ReadonlyMap<string, number>
}

/** Looks a batch's keys up. Requires the locked head, or one that will be compared with it. */
export async function probeKeys(db: Queryable, network: Network, keys: Keys): Promise<Probed> {
  const names = [...keys.names]
  const wallets = [...keys.wallets]
  const ids = wallets.map((key) => clusterId(network, bytesOf(key), 0))
  const [found, serials] = await Promise.all([
    probe(db, network, names, wallets.map(bytesOf), ids),
    findSerials(db, network, [...keys.clusterIds, ...keys.slices]),
  ])
  return { keys, names, wallets, found, serials }
}

/** Loads the rows that a batch reads, in a constant number of statements. */
export async function loadSlice(client: pg.ClientBase, network: Network, head: Head, keys: Keys): Promise<Slice> {
  const [probed] = await pipelined(client, (db) => [probeKeys(db, network, keys)])
  return completeSlice(client, { network, head }, probed)
}

export interface SliceRequest {
  network: Network
  head: Head
  /** Tells whether the batch is one entry, which saves a query. */
  isAlone?: boolean
}

/** Loads what else a batch reads, once its keys are looked up. */
export async function completeSlice(
  client: pg.ClientBase,
  { network, head, isAlone = false }: SliceRequest,
  { keys, names, wallets, found, serials }: Probed,
): Promise<Slice> {
  const owners = new Map<string, number>()
  const slice: Slice = {
    network,
    head,
    owners,
    verified: new Map(),
    nextClusterNumber: new Map(),
    clusters: new Map(),
    clusterSerials: new Map(serials),
    communities: new Map(),
    communityNames: new Set(),
    assigned: new Map(),
    moves: new Map(),
  }
  const hasCreated = new Set<string>()
  for (const row of found) {
    if (row.source === 'owner') owners.set(names[row.ord - 1]!, row.cluster)
    else if (row.source === 'cluster') hasCreated.add(wallets[row.ord - 1]!)
    else slice.verified.set(wallets[row.ord - 1]!, { cluster: row.cluster, isPrivate: row.private! })
  }
  const searches: Search[] = []
  for (const key of keys.wallets) {
    // signed changes may end the verification of a wallet within the batch, before another change of it
    if (slice.verified.has(key) && (keys.actors.size === 0 || isAlone)) continue
    if (hasCreated.has(key)) searches.push({ key, taken: 0, free: Number.POSITIVE_INFINITY })
    else slice.nextClusterNumber.set(key, 0)
  }
  chooseClusters(slice, keys)
  if (searches.length + slice.clusters.size > 0)
    await pipelined(client, (db) => [narrow(db, slice, searches), loadClusters(db, slice, keys)])
  if (keys.movedNames > 0) await loadMoves(client, slice, keys)
  await findFreeIds(client, slice, searches)
  await loadCommunities(client, slice, keys)
  return slice
}

const bytesOf = (key: string): Buffer => Buffer.from(key, 'latin1')

/**
 * Looks up owned names, verified wallets and cluster ids in one statement. Single-key probes (LATERAL … LIMIT 1) make
 * the unique index the only cheap plan where plans go by indexes, as they do once the head is locked.
 */
async function probe(
  db: Queryable,
  network: Network,
  names: readonly string[],
  addresses: readonly Buffer[],
  ids: readonly Buffer[],
): Promise<Found[]> {
  if (names.length + addresses.length + ids.length === 0) return []
  const code = NETWORK_CODE[network]
  const text = `
    SELECT 'owner' AS source, k.ord::int AS ord, n.cluster, NULL::bool AS private
    FROM unnest($1::text[]) WITH ORDINALITY k(name, ord) CROSS JOIN LATERAL (
      SELECT ${holderOf({ network: code, moves: leaf('moves', network) }, 'n.cluster')} AS cluster FROM ${leaf('names', network)} n
      WHERE network = ${code} AND outcome = 1 AND name = k.name COLLATE "C" LIMIT 1) n
    UNION ALL
    SELECT 'wallet', k.ord::int, w.cluster, w.private
    FROM unnest($2::bytea[]) WITH ORDINALITY k(address, ord) CROSS JOIN LATERAL (
      SELECT cluster, private FROM ${leaf('wallets', network)}
      WHERE network = ${code} AND verified AND address = k.address LIMIT 1) w
    UNION ALL
    SELECT 'cluster', k.ord::int, c.serial, NULL
    FROM unnest($3::bytea[]) WITH ORDINALITY k(id, ord) CROSS JOIN LATERAL (
      SELECT serial FROM ${leaf('clusters', network)} WHERE network = ${code} AND id = k.id LIMIT 1) c`
  const values = [
    binaryArray(TEXT_OID, names.map(bytesOf)),
    binaryArray(BYTEA_OID, addresses),
    binaryArray(BYTEA_OID, ids),
  ]
  return readRows<Found>(db, { name: `probe_${network}`, text }, values)
}

/** Search for the smallest free cluster number of a wallet whose number 0 is taken. */
interface Search {
  key: string
  taken: number
  free: number
}

const isOpen = ({ taken, free }: Search): boolean => free - taken > 1

/**
 * Finds the numbers. The taken ones are 0 … k-1, so probes lie at doubling distances first and between the two that
 * enclose k then: the head is locked meanwhile.
 */
async function findFreeIds(client: pg.ClientBase, slice: Slice, searches: readonly Search[]): Promise<void> {
  while (searches.some(isOpen)) await narrow(client, slice, searches.filter(isOpen))
  for (const { key, free } of searches) slice.nextClusterNumber.set(key, free)
}

/** Round of the searches. */
async function narrow(db: Queryable, { network }: Slice, searches: readonly Search[]): Promise<void> {
  const asked = searches.flatMap((search) => numbersBetween(search).map((number) => ({ search, number })))
  const ids = asked.map(({ search, number }) => clusterId(network, bytesOf(search.key), number))
  const found = new Set((await probe(db, network, [], [], ids)).map(({ ord }) => ord - 1))
  asked.forEach(({ search, number }, i) => {
    if (found.has(i)) search.taken = Math.max(search.taken, number)
    else search.free = Math.min(search.free, number)
  })
}

/** Up to `PROBE_WIDTH` numbers between a taken and a free one, evenly spread; doubling ones where none is free. */
function numbersBetween({ taken, free }: Search): number[] {
  const steps = Array.from({ length: PROBE_WIDTH }, (_, i) =>
    free === Number.POSITIVE_INFINITY ? 2 ** i : Math.ceil(((free - taken - 1) * (i + 1)) / PROBE_WIDTH),
  )
  return [...new Set(steps)].map((step) => taken + step)
}
