import type pg from 'pg'
import type { JournalHead, LoadedRegistryRows, RegistryRowKeys } from '../../registry/fold/rows.js'
import { deriveClusterId } from '../../registry/primitives/clusterId.js'
import type { Network } from '../../registry/primitives/network.js'
import { byteaArray } from '../pg/arrays.js'
import { inPipeline } from '../pg/pipeline.js'
import { prepared, type Queryable, readRows } from '../pg/rows.js'
import { holderOfNameSql } from '../registry/heldNames.js'
import { partitionsOf } from './partitions.js'
import { chooseClustersToLoad, loadClusters, loadMovesInProgress } from './sliceClusters.js'
import { loadCommunities } from './sliceCommunities.js'

/** Row that `probeKeys` found. `ord` is the position (from 1) of its key among the keys of its kind. */
interface KeyRow {
  /**
   * Kind of the key. `owner`: a name. `wallet`: an address. `first`: id of the first cluster that a wallet creates.
   * `id`: a requested cluster id.
   */
  source: 'owner' | 'wallet' | 'first' | 'id'
  ord: number
  /** Serial of the cluster that holds the name, in which the wallet is verified, or that has the id. */
  cluster: number
  /** Whether the found wallet is private. Null for other kinds. */
  private: boolean | null
}

/** Result of `findRowsOfKeys`, from which `loadRegistryRowsOfBatch` continues. */
export interface RowsFoundByKeys {
  keys: RegistryRowKeys
  /**
   * The keys in the order of the look-up. `ord` (from 1) of a found row is a position in `names` (source `owner`),
   * `wallets` (`wallet`, `first`) or `clusters` (`id`). `clusters` has `keys.clusterIds`, then `keys.continuedMoves`.
   */
  names: readonly string[]
  wallets: readonly string[]
  clusters: readonly string[]
  found: readonly KeyRow[]
}

/**
 * Reads the rows that the keys refer to. The caller locks the journal's head first, or earlier in the same pipeline.
 */
export async function findRowsOfKeys(
  db: Queryable,
  network: Network,
  keys: RegistryRowKeys,
): Promise<RowsFoundByKeys> {
  const names = [...keys.names]
  const wallets = [...keys.wallets]
  const clusters = [...keys.clusterIds, ...keys.continuedMoves]
  const rows = await probeKeys(db, network, {
    names,
    wallets: wallets.map(bytesOfKey),
    firstIds: wallets.map((key) => deriveClusterId(network, bytesOfKey(key), 0)),
    ids: clusters.map(bytesOfKey),
  })
  return { keys, names, wallets, clusters, found: rows }
}

/**
 * Loads all rows that a batch of entries reads, after `findRowsOfKeys`.
 * @param isAlone true if the caller knows that the batch is a single entry, which saves a query
 */
export async function loadRegistryRowsOfBatch(
  client: pg.ClientBase,
  { network, head, isAlone = false }: { network: Network; head: JournalHead; isAlone?: boolean },
  { keys, names, wallets, clusters, found: rows }: RowsFoundByKeys,
): Promise<LoadedRegistryRows> {
  const owners = new Map<string, number>()
  const slice: LoadedRegistryRows = {
    network,
    head,
    owners,
    verified: new Map(),
    nextClusterNumber: new Map(),
    clusters: new Map(),
    clusterSerials: new Map(),
    communities: new Map(),
    communityNames: new Map(),
    assigned: new Map(),
    moves: new Map(),
  }
  const hasCreated = new Set<string>()
  for (const { source, ord, cluster, private: isPrivate } of rows) {
    const at = ord - 1
    switch (source) {
      case 'owner':
        owners.set(names[at]!, cluster)
        break
      case 'wallet':
        slice.verified.set(wallets[at]!, { cluster, isPrivate: isPrivate! })
        break
      case 'first':
        hasCreated.add(wallets[at]!)
        break
      case 'id':
        slice.clusterSerials.set(clusters[at]!, cluster)
    }
  }
  const creators: string[] = []
  for (const key of keys.wallets) {
    // signed changes of one batch may end a wallet's verification and then change the wallet again
    if (slice.verified.has(key) && (keys.actors.size === 0 || isAlone)) continue
    if (hasCreated.has(key)) creators.push(key)
    else slice.nextClusterNumber.set(key, 0)
  }
  chooseClustersToLoad(slice, keys)
  if (creators.length + slice.clusters.size > 0)
    await inPipeline(client, (db) => [
      findNextClusterNumbers(db, slice, creators),
      ...loadClusters(db, slice, keys),
    ])
  if (keys.movedNames > 0) await loadMovesInProgress(client, slice, keys)
  await loadCommunities(client, slice, keys)
  return slice
}

const bytesOfKey = (key: string): Buffer => Buffer.from(key, 'latin1')

/** `firstIds`: ids of the first clusters of `wallets`, in the same order. */
interface ProbedKeys {
  names?: readonly string[]
  wallets?: readonly Buffer[]
  firstIds?: readonly Buffer[]
  ids: readonly Buffer[]
}

/**
 * Finds owned names, verified wallets and cluster ids in one statement, with one look-up for each key (LATERAL with
 * LIMIT). So PostgreSQL uses the unique indexes once the lock of the head has turned off sequential scans.
 */
async function probeKeys(
  db: Queryable,
  network: Network,
  { names = [], wallets = [], firstIds = [], ids }: ProbedKeys,
): Promise<KeyRow[]> {
  // `firstIds` needs no check: it is as long as `wallets`
  if (names.length + wallets.length + ids.length === 0) return []
  const leaves = partitionsOf(network)
  const clustersBy = (source: 'first' | 'id', ids: '$3' | '$4') => `
    SELECT '${source}', k.ord::int, c.serial, NULL
    FROM unnest(${ids}::bytea[]) WITH ORDINALITY k(id, ord) CROSS JOIN LATERAL (
      SELECT serial FROM ${leaves.clusters} WHERE network = ${leaves.network} AND id = k.id LIMIT 1) c`
  const text = `
    SELECT 'owner' AS source, k.ord::int AS ord, n.cluster, NULL::bool AS private
    FROM unnest($1::text[]) WITH ORDINALITY k(name, ord) CROSS JOIN LATERAL (${holderOfNameSql(leaves, 'k.name')}) n
    UNION ALL
    SELECT 'wallet', k.ord::int, w.cluster, w.private
    FROM unnest($2::bytea[]) WITH ORDINALITY k(address, ord) CROSS JOIN LATERAL (
      SELECT cluster, private FROM ${leaves.wallets}
      WHERE network = ${leaves.network} AND verified AND address = k.address LIMIT 1) w
    UNION ALL ${clustersBy('first', '$3')}
    UNION ALL ${clustersBy('id', '$4')}`
  const values = [names, byteaArray(wallets), byteaArray(firstIds), byteaArray(ids)]
  return readRows<KeyRow>(db, prepared(text), values)
}

/** Number of possible cluster ids of a wallet that the first query checks. Each further query checks twice as many. */
const PROBE_WIDTH = 16

/**
 * Sets `nextClusterNumber` of wallets that have created a cluster. A wallet numbers its clusters from 0 without gaps,
 * so the first number whose id no cluster has is the next one.
 */
async function findNextClusterNumbers(
  db: Queryable,
  { network, nextClusterNumber }: LoadedRegistryRows,
  creators: readonly string[],
): Promise<void> {
  let open = creators
  for (let from = 1, width = PROBE_WIDTH; open.length > 0; from += width, width *= 2) {
    const candidates = open.flatMap((key) =>
      Array.from({ length: width }, (_, i) => ({ key, number: from + i })),
    )
    const ids = candidates.map(({ key, number }) =>
      deriveClusterId(network, bytesOfKey(key), number),
    )
    const taken = new Set(
      (await probeKeys(db, network, { ids })).map(({ ord }) => candidates[ord - 1]!),
    )
    for (const one of candidates)
      if (!taken.has(one) && !nextClusterNumber.has(one.key))
        nextClusterNumber.set(one.key, one.number)
    open = open.filter((key) => !nextClusterNumber.has(key))
  }
}
