import { decodeAddress } from '../registry/address.js'
import { keyOf, toHex } from '../registry/bytes.js'
import { clusterId } from '../registry/clusterId.js'
import type { Entry } from '../registry/entry.js'
import {
  type Changes,
  type ClusterRow,
  type ClusterState,
  fold,
  type Head,
  type JournalRow,
  keysOf,
  type NameRow,
  type Slice,
  type WalletRow,
} from '../registry/fold.js'
import type { Network } from '../registry/network.js'

/**
 * The registry's tables in memory, with the same steps as the database's writer: load the slice of a batch, fold it, write
 * what changed. For tests of the rules, and to compare the database with.
 */
export interface MemoryRegistry {
  network: Network
  head: Head
  journal: JournalRow[]
  names: NameRow[]
  clusters: ClusterRow[]
  wallets: WalletRow[]
}

export const emptyRegistry = (network: Network, minimumWei = 0n): MemoryRegistry => ({
  network,
  head: { generation: 1, seq: 0, publicSeq: 0, atMs: 0, serial: 0, minimumWei },
  journal: [],
  names: [],
  clusters: [],
  wallets: [],
})

/** Folds one batch into the tables. `writerMs`: see `fold`. */
export function append(registry: MemoryRegistry, entries: readonly Entry[], writerMs: number): Changes {
  const changes = fold(loadSlice(registry, entries), entries, writerMs)
  registry.head = changes.head
  registry.journal.push(...changes.journal)
  registry.names.push(...changes.names)
  registry.clusters.push(...changes.clusters)
  const indexOf = ({ cluster, address }: Pick<WalletRow, 'cluster' | 'address'>): number => {
    const i = registry.wallets.findIndex((row) => row.cluster === cluster && row.address.equals(address))
    if (i < 0) throw new Error(`a change names a wallet that is not listed: ${decodeAddress(address).text}`)
    return i
  }
  for (const row of changes.walletRemovals) registry.wallets.splice(indexOf(row), 1)
  registry.wallets.push(...changes.wallets)
  for (const row of changes.walletUpdates) registry.wallets[indexOf(row)] = row
  for (const { name, cluster } of changes.nameMoves) {
    const i = registry.names.findIndex((row) => row.name === name && row.outcome === 'won')
    registry.names[i] = { ...registry.names[i]!, cluster }
  }
  return changes
}

/** The rows that a batch reads and no others, as the database loads them. */
export function loadSlice(registry: MemoryRegistry, entries: readonly Entry[]): Slice {
  const keys = keysOf(entries)
  const slice: Slice = {
    network: registry.network,
    head: { ...registry.head },
    owners: new Map(),
    verified: new Map(),
    nextClusterNumber: new Map(),
    clusters: new Map(),
    clusterSerials: new Map(),
  }
  const whole = new Set<number>()
  for (const { name, cluster, outcome } of registry.names) {
    if (outcome === 'won' && keys.names.has(name!)) slice.owners.set(name!, cluster!)
  }
  for (const key of keys.wallets) {
    const address = Buffer.from(key, 'latin1')
    const entry = registry.wallets.find((row) => row.isVerified && row.address.equals(address))
    if (entry) {
      const { cluster, isPrivate } = entry
      slice.verified.set(key, { cluster, isPrivate })
      if (isPrivate || keys.actors.has(key)) whole.add(cluster)
    }
    if (!entry || keys.actors.size > 0) slice.nextClusterNumber.set(key, firstFreeNumber(registry, address))
  }
  for (const { id, serial } of registry.clusters) {
    if (!keys.clusterIds.has(keyOf(id))) continue
    slice.clusterSerials.set(keyOf(id), serial)
    whole.add(serial)
  }
  for (const serial of whole) slice.clusters.set(serial, wholeCluster(registry, serial, keys.heldNames))
  return slice
}

function wholeCluster(registry: MemoryRegistry, serial: number, withNames: boolean): ClusterState {
  const rows = registry.wallets.filter((row) => row.cluster === serial)
  const names = registry.names.filter((row) => withNames && row.cluster === serial)
  return {
    wallets: new Map(rows.map((row) => [keyOf(row.address), row])),
    names: names.map((row) => ({ name: row.name!, seq: row.seq })),
  }
}

function firstFreeNumber(registry: MemoryRegistry, creator: Buffer): number {
  const taken = new Set(registry.clusters.map((row) => toHex(row.id)))
  let n = 0
  while (taken.has(toHex(clusterId(registry.network, creator, n)))) n++
  return n
}
