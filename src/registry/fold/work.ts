import { encodeChangeEffects } from '../journal/effects.js'
import type { Entry } from '../journal/entry.js'
import type { PublicEvent } from '../journal/eventTypes.js'
import { NEWEST_RULESET, type Ruleset } from '../journal/ruleset.js'
import { mapKey } from '../primitives/bytes.js'
import { deriveClusterId } from '../primitives/clusterId.js'
import {
  type ClusterState,
  communityNameKey,
  type JournalRow,
  type LoadedRegistryRows,
  type RowChanges,
  type WalletRow,
} from './rows.js'

/** State of a running fold: the loaded rows as the entries so far have changed them, and the rows to write. */
export interface FoldState extends Omit<LoadedRegistryRows, 'head' | 'clusters'> {
  /**
   * Null in a batch of only bids and minimums for which no cluster was loaded. New clusters are then only in `changes`.
   */
  clusters: Map<number, ClusterState> | null
  /** Rules of the current entry. */
  rules: Ruleset
  changes: RowChanges
}

/** Stores a change's cluster and its public events, in order, in the journal row. */
export function setPublicEvents(row: JournalRow, cluster: number, events: PublicEvent[]): void {
  row.effects = encodeChangeEffects({ cluster, events })
  row.publicCount = events.length
}

/** Starts a fold on copies of the loaded rows. */
export function beginFold(before: LoadedRegistryRows, entries: readonly Entry[]): FoldState {
  const { generation, seq, publicSeq, atMs, serial, minimumWei } = before.head
  // Stryker disable next-line all: a batch of bids gives the same result with whole clusters, only slower
  const isWhole =
    before.clusters.size > 0 || entries.some(({ kind }) => kind !== 'bid' && kind !== 'minimum')
  return {
    network: before.network,
    owners: new Map(before.owners),
    verified: new Map(before.verified),
    nextClusterNumber: new Map(before.nextClusterNumber),
    clusterSerials: new Map(before.clusterSerials),
    clusters: isWhole ? copyClusters(before.clusters) : null,
    communities: new Map(before.communities),
    communityNames: new Map(before.communityNames),
    assigned: new Map(before.assigned),
    moves: new Map(before.moves),
    rules: NEWEST_RULESET,
    changes: {
      // listed field by field, so that all heads have one hidden class in V8 and compiled code stays valid
      head: { generation, seq, publicSeq, atMs, serial, minimumWei },
      journal: [],
      names: [],
      clusters: [],
      wallets: [],
      walletUpdates: [],
      walletRemovals: [],
      nameMoves: [],
      movesEnded: [],
      moves: [],
      communities: [],
      communityNames: [],
      communityNamesFreed: [],
      payments: [],
      outcomes: [],
    },
  }
}

const copyClusters = (clusters: LoadedRegistryRows['clusters']): Map<number, ClusterState> =>
  new Map(
    [...clusters].map(([serial, { wallets, names }]) => [
      serial,
      { wallets: new Map(wallets), names: [...names] },
    ]),
  )

/** Ends a fold. The wallet and move rows to write are the differences from the rows that were loaded. */
export function finishFold(work: FoldState, before: LoadedRegistryRows): RowChanges {
  const { changes } = work
  for (const [serial, { wallets }] of work.clusters ?? []) {
    const old = before.clusters.get(serial)?.wallets
    for (const [key, row] of wallets) {
      const was = old?.get(key)
      if (!was) changes.wallets.push(row)
      else if (was.isVerified && !row.isVerified) {
        // The wallet was removed and listed again. Another cluster may have verified it in between, so its old row is
        // deleted before other rows are written.
        changes.walletRemovals.push(was)
        changes.wallets.push(row)
      } else if (row !== was) changes.walletUpdates.push(row)
    }
    if (old) for (const [key, was] of old) if (!wallets.has(key)) changes.walletRemovals.push(was)
  }
  for (const [source, { target, seq, actor }] of work.moves)
    if (before.moves.get(source)?.seq !== seq) changes.moves.push({ source, target, seq, actor })
  for (const [source, { seq }] of before.moves)
    if (work.moves.get(source)?.seq !== seq) changes.movesEnded.push(source)
  return changes
}

/** Returns a cluster that was loaded in full. @throws Error for any other cluster */
export function requireLoadedCluster(work: FoldState, serial: number): ClusterState {
  const state = work.clusters?.get(serial)
  if (!state) throw new Error(`cluster ${serial} is missing in the slice`)
  return state
}

/**
 * True if a name below a community of the cluster equals a wallet name. Wallet names and names below the cluster's
 * communities share a namespace.
 */
export const isNameTakenBelowCommunity = (
  work: FoldState,
  { names }: ClusterState,
  name: string,
): boolean =>
  // Stryker disable next-line ConditionalExpression,EqualityOperator: the condition only avoids a pass over all names
  work.communityNames.size > 0 &&
  names.some((owned) => work.communityNames.has(communityNameKey(owned.name, name)))

/** Adds or replaces a wallet of a cluster that was loaded in full. */
export function setWallet(work: FoldState, row: WalletRow): void {
  const key = mapKey(row.address)
  requireLoadedCluster(work, row.cluster).wallets.set(key, row)
  if (row.isVerified) work.verified.set(key, { cluster: row.cluster, isPrivate: row.isPrivate })
}

/** Removes a wallet from a cluster that was loaded in full. The wallet may be verified in another cluster already. */
export function removeWallet(work: FoldState, cluster: number, key: string): void {
  requireLoadedCluster(work, cluster).wallets.delete(key)
  if (work.verified.get(key)?.cluster === cluster) work.verified.delete(key)
}

/** Creates a cluster. Its creator is its first wallet, public and verified. @returns the cluster's serial */
export function createCluster(
  work: FoldState,
  seq: number,
  creator: Buffer,
  key: string,
  name: string,
): number {
  const { changes } = work
  const n = work.nextClusterNumber.get(key)
  if (n === undefined)
    throw new Error(
      `the cluster number is missing in the slice of wallet 0x${creator.toString('hex')}`,
    )
  const id = deriveClusterId(work.network, creator, n)
  work.nextClusterNumber.set(key, n + 1)
  changes.head.serial += 1
  const cluster = changes.head.serial
  changes.clusters.push({ serial: cluster, id, createdSeq: seq })
  const row: WalletRow = {
    cluster,
    address: creator,
    name,
    isVerified: true,
    isPrivate: false,
    isBackedUp: false,
    createdSeq: seq,
    updatedSeq: seq,
    evidenceSeq: null,
  }
  if (work.clusters) {
    work.clusters.set(cluster, { wallets: new Map([[key, row]]), names: [] })
    work.clusterSerials.set(mapKey(id), cluster)
  } else changes.wallets.push(row)
  work.verified.set(key, { cluster, isPrivate: false })
  return cluster
}
