import { decodeAddress } from '../registry/address.js'
import { toHex } from '../registry/bytes.js'
import { clusterId } from '../registry/clusterId.js'
import type { Entry } from '../registry/entry.js'
import {
  type Changes,
  type ClusterRow,
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
  registry.wallets.push(...changes.wallets)
  for (const update of changes.walletUpdates) {
    const i = registry.wallets.findIndex((row) => row.cluster === update.cluster && row.address.equals(update.address))
    const row = registry.wallets[i]
    if (!row) throw new Error(`an update names a wallet that is not listed: ${decodeAddress(update.address).text}`)
    registry.wallets[i] = { ...update, createdSeq: row.createdSeq }
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
  }
  for (const { name, cluster, outcome } of registry.names) {
    if (outcome === 'won' && keys.names.has(name!)) slice.owners.set(name!, cluster!)
  }
  for (const key of keys.wallets) {
    const address = Buffer.from(key, 'latin1')
    const entry = registry.wallets.find((row) => row.isVerified && row.address.equals(address))
    if (entry) {
      const { cluster, name, isPrivate, isBackedUp } = entry
      slice.verified.set(key, { cluster, name, isPrivate, isBackedUp })
    } else {
      slice.nextClusterNumber.set(key, firstFreeNumber(registry, address))
    }
  }
  return slice
}

function firstFreeNumber(registry: MemoryRegistry, creator: Buffer): number {
  const taken = new Set(registry.clusters.map((row) => toHex(row.id)))
  let n = 0
  while (taken.has(toHex(clusterId(registry.network, creator, n)))) n++
  return n
}
