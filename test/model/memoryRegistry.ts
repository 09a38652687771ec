import { foldEntriesToRows, rowKeysOfEntries } from '../../src/registry/fold/index.js'
import type { ClusterName } from '../../src/registry/fold/rows.js'
import {
  type ClusterRow,
  type ClusterState,
  type CommunityNameRow,
  type CommunityRow,
  communityAssignmentKey,
  communityNameKey,
  type JournalHead,
  type JournalRow,
  type LoadedRegistryRows,
  type NameMoveRow,
  type NameRow,
  type RegistryRowKeys,
  type WalletRow,
} from '../../src/registry/fold/rows.js'
import { decodeChange } from '../../src/registry/journal/change.js'
import { type DecodedEntry, decodeEntry } from '../../src/registry/journal/decode.js'
import type { Entry } from '../../src/registry/journal/entry.js'
import { rulesetOfVersion } from '../../src/registry/journal/ruleset.js'
import { decodeAddress } from '../../src/registry/primitives/address.js'
import { mapKey, toHex } from '../../src/registry/primitives/bytes.js'
import { deriveClusterId } from '../../src/registry/primitives/clusterId.js'
import type { Network } from '../../src/registry/primitives/network.js'

/**
 * The registry's tables in memory, with the same steps as the database's writer: load the slice of a batch, fold it,
 * write what changed. For tests of the rules, and to compare the database with.
 */
export interface MemoryRegistry {
  network: Network
  head: JournalHead
  journal: JournalRow[]
  names: NameRow[]
  clusters: ClusterRow[]
  wallets: WalletRow[]
  communities: CommunityRow[]
  communityNames: CommunityNameRow[]
  moves: NameMoveRow[]
}

export const emptyRegistry = (network: Network, minimumWei = 0n): MemoryRegistry => ({
  network,
  head: { generation: 1, seq: 0, publicSeq: 0, atMs: 0, serial: 0, minimumWei },
  journal: [],
  names: [],
  clusters: [],
  wallets: [],
  communities: [],
  communityNames: [],
  moves: [],
})

/** Folds one batch into the tables. `writerMs`, `rulesOf`: see `foldEntriesToRows`. */
export function append(
  registry: MemoryRegistry,
  entries: readonly Entry[],
  writerMs: number,
  rulesOf = rulesetOfVersion,
) {
  const decoded = entries.map(decodeEntry)
  const changes = foldEntriesToRows(
    loadSlice(registry, decoded, rulesOf),
    decoded,
    writerMs,
    rulesOf,
  )
  registry.head = changes.head
  registry.journal.push(...changes.journal)
  registry.names.push(...changes.names)
  registry.clusters.push(...changes.clusters)
  const indexOf = ({ cluster, address }: Pick<WalletRow, 'cluster' | 'address'>): number => {
    const i = registry.wallets.findIndex(
      (row) => row.cluster === cluster && row.address.equals(address),
    )
    if (i < 0)
      throw new Error(`a change names a wallet that is not listed: ${decodeAddress(address).text}`)
    return i
  }
  for (const row of changes.walletRemovals) registry.wallets.splice(indexOf(row), 1)
  registry.wallets.push(...changes.wallets)
  for (const row of changes.walletUpdates) registry.wallets[indexOf(row)] = row
  for (const { name, cluster } of changes.nameMoves) {
    const i = registry.names.findIndex((row) => row.name === name && row.outcome === 'won')
    registry.names[i] = { ...registry.names[i]!, cluster }
  }
  registry.communities.push(...changes.communities)
  const freed = changes.communityNamesFreed.map(({ community, name }) =>
    communityNameKey(community, name),
  )
  registry.communityNames = registry.communityNames.filter(
    (row) => !freed.includes(communityNameKey(row.community, row.name)),
  )
  registry.communityNames.push(...changes.communityNames)
  registry.moves = registry.moves.filter(({ source }) => !changes.movesEnded.includes(source))
  registry.moves.push(...changes.moves)
  return changes
}

/** The rows that a batch reads and no others, as the database loads them. */
export function loadSlice(
  registry: MemoryRegistry,
  entries: readonly DecodedEntry[],
  rulesOf = rulesetOfVersion,
): LoadedRegistryRows {
  const keys = rowKeysOfEntries(entries, rulesOf)
  const slice: LoadedRegistryRows = {
    network: registry.network,
    head: { ...registry.head },
    owners: new Map(),
    verified: new Map(),
    nextClusterNumber: new Map(),
    clusters: new Map(),
    clusterSerials: new Map(),
    communities: new Map(),
    communityNames: new Map(),
    assigned: new Map(),
    moves: new Map(),
  }
  const whole = new Set<number>()
  for (const { name, cluster, outcome } of registry.names) {
    if (outcome === 'won' && keys.names.has(name!))
      slice.owners.set(name!, holderOf(registry, cluster!))
  }
  for (const key of keys.wallets) {
    const address = Buffer.from(key, 'latin1')
    const entry = registry.wallets.find((row) => row.isVerified && row.address.equals(address))
    if (entry) {
      const { cluster, isPrivate } = entry
      slice.verified.set(key, { cluster, isPrivate })
      if (isPrivate || keys.actors.has(key)) whole.add(cluster)
    }
    if (!entry || keys.actors.size > 0)
      slice.nextClusterNumber.set(key, firstFreeNumber(registry, address))
  }
  for (const { id, serial } of registry.clusters) {
    if (!keys.clusterIds.has(mapKey(id)) && !keys.continuedMoves.includes(mapKey(id))) continue
    slice.clusterSerials.set(mapKey(id), serial)
    if (keys.clusterIds.has(mapKey(id))) whole.add(serial)
  }
  for (const community of keys.communities.keys()) {
    const holder = slice.owners.get(community)
    if (holder !== undefined) whole.add(holder)
  }
  for (const serial of whole) slice.clusters.set(serial, wholeCluster(registry, serial, keys))
  for (const move of registry.moves) {
    const isSliced = keys.continuedMoves.some((id) => slice.clusterSerials.get(id) === move.source)
    if (!isSliced && !whole.has(move.source) && !whole.has(move.target)) continue
    // as few as the database reads
    const names = isSliced ? rowsOf(registry, move.source).slice(0, keys.movedNames + 1) : []
    slice.moves.set(move.source, { ...move, names })
  }
  loadCommunities(registry, slice, keys)
  return slice
}

function loadCommunities(
  registry: MemoryRegistry,
  slice: LoadedRegistryRows,
  keys: RegistryRowKeys,
): void {
  for (const [community, sinceMs] of keys.communities) {
    const history = registry.communities
      .filter(({ name }) => name === community)
      .map(({ seq }) => registry.journal[seq - 1]!)
      .map(({ atMs, body }) => ({ atMs, rules: decodeChange('configure_community', body).rules }))
    const inForce = history.findLastIndex(({ atMs }) => atMs <= sinceMs)
    slice.communities.set(community, history.slice(Math.max(0, inForce)))
  }
  const held = new Set(
    [...slice.clusters.values()].flatMap(({ names }) => names.map(({ name }) => name)),
  )
  for (const { community, name, seq, assigned, claim } of registry.communityNames) {
    const pair = communityNameKey(community, name)
    // loads all names that can hide an entry, more than the database loads
    if (keys.communityNames.has(pair) || held.has(community)) slice.communityNames.set(pair, seq)
    if (assigned === null || !keys.assignments.has(community)) continue
    if (!slice.clusters.has(assigned) && !(claim && keys.claims.has(mapKey(claim)))) continue
    for (const by of [assigned, claim])
      if (by !== null) slice.assigned.set(communityAssignmentKey(community, by), name)
  }
}

function wholeCluster(
  registry: MemoryRegistry,
  serial: number,
  keys: RegistryRowKeys,
): ClusterState {
  const rows = registry.wallets.filter((row) => row.cluster === serial)
  const held = registry.names.filter(
    (row) => row.cluster !== null && holderOf(registry, row.cluster) === serial,
  )
  return {
    wallets: new Map(rows.map((row) => [mapKey(row.address), row])),
    // of names that may move, only as many as the database reads
    names: held
      .filter(
        ({ name }, i) =>
          i <= keys.movedNames || keys.communities.has(name!) || isCommunity(registry, name!),
      )
      .map((row) => ({ name: row.name!, seq: row.seq })),
  }
}

const isCommunity = ({ communities }: MemoryRegistry, name: string): boolean =>
  communities.some((community) => community.name === name)

const rowsOf = ({ names }: MemoryRegistry, cluster: number): ClusterName[] =>
  names.filter((row) => row.cluster === cluster).map((row) => ({ name: row.name!, seq: row.seq }))

/** The cluster that holds names whose rows say this one. */
export const holderOf = ({ moves }: MemoryRegistry, cluster: number): number =>
  moves.find(({ source }) => source === cluster)?.target ?? cluster

function firstFreeNumber(registry: MemoryRegistry, creator: Buffer): number {
  const taken = new Set(registry.clusters.map((row) => toHex(row.id)))
  let n = 0
  while (taken.has(toHex(deriveClusterId(registry.network, creator, n)))) n++
  return n
}
