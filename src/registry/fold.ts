import { addressOfWord } from './address.js'
import { BID_WORDS, decodeBid, judgeBid } from './bid.js'
import { keyOf, wordToBigInt } from './bytes.js'
import { clusterId } from './clusterId.js'
import { type BidEffects, encodeBidEffects, NO_EFFECTS } from './effects.js'
import type { Entry } from './entry.js'
import { DEFAULT_WALLET_NAME, wordToName } from './name.js'
import type { Network } from './network.js'

/**
 * The registry is a pure fold of the journal. `keysOf(entries)` says which rows a batch touches, the writer loads them
 * into a `Slice`, `fold` gives the rows to write. The same code serves one signed change and 5,000 logs.
 */

/** Where a network's journal stands: the row that orders all writers (`journal_heads`). */
export interface Head {
  generation: number
  seq: number
  publicSeq: number
  atMs: number
  /** Serial of the newest cluster. */
  serial: number
  minimumWei: bigint
}

/** The keys of the rows that a batch may read. Byte strings as `keyOf` texts. */
export interface Keys {
  names: Set<string>
  /** Wallets whose verified entry counts; each may also create a cluster. */
  wallets: Set<string>
}

/** A wallet's verified entry. */
export interface VerifiedWallet {
  cluster: number
  name: string
  isPrivate: boolean
  isBackedUp: boolean
}

/** The rows that a batch reads, as they stand before it. `fold` works on copies, so a slice may be folded again. */
export interface Slice {
  network: Network
  head: Head
  /** Names that are owned, with the serial of the holder's cluster. */
  owners: Map<string, number>
  verified: Map<string, VerifiedWallet>
  /** The smallest number whose cluster id is free, for wallets that are verified nowhere. */
  nextClusterNumber: Map<string, number>
  /** The ids of those numbers, from a loader that has computed them: they are costly. */
  nextClusterId?: Map<string, Buffer>
}

export interface JournalRow extends Entry {
  seq: number
  atMs: number
  publicFirst: number
  publicCount: number
  /** The public actor's stored address, null where there is none. */
  actor: Buffer | null
  effects: Buffer
}

export interface NameRow {
  seq: number
  txKey: bigint | null
  /** null when malformed: the raw word stays in the journal. */
  name: string | null
  /** The holder's cluster; null where the bid did not win. */
  cluster: number | null
  outcome: 'won' | 'lost' | 'refused'
}

export interface ClusterRow {
  serial: number
  id: Buffer
  createdSeq: number
}

export interface WalletRow {
  cluster: number
  address: Buffer
  name: string
  isVerified: boolean
  isPrivate: boolean
  isBackedUp: boolean
  createdSeq: number
  updatedSeq: number
}

export type WalletUpdate = Omit<WalletRow, 'createdSeq'>

/** What a batch changes. Inserts go by COPY, updates are rare. */
export interface Changes {
  head: Head
  journal: JournalRow[]
  names: NameRow[]
  clusters: ClusterRow[]
  wallets: WalletRow[]
  /** Entries of wallets that change in place; when they were made never changes. */
  walletUpdates: WalletUpdate[]
}

/** The keys of the rows a batch reads. */
export function keysOf(entries: readonly Entry[]): Keys {
  const keys: Keys = { names: new Set(), wallets: new Set() }
  for (const entry of entries) {
    if (entry.kind !== 'bid') continue
    const name = wordToName(entry.body.subarray(BID_WORDS.name, BID_WORDS.referral))
    if (name === null) continue
    keys.names.add(name)
    keys.wallets.add(keyOf(addressOfWord(entry.body.subarray(BID_WORDS.from, BID_WORDS.amount))))
  }
  return keys
}

/**
 * The ids of the first cluster that each wallet of `keys` would create. Costly and the same in every state, so a writer may
 * have them made before its turn.
 */
export function firstClusterIds(network: Network, keys: Keys): Map<string, Buffer> {
  const ids = new Map<string, Buffer>()
  for (const key of keys.wallets) ids.set(key, clusterId(network, Buffer.from(key, 'latin1'), 0))
  return ids
}

/**
 * Folds a batch of entries, in order, into the rows to write.
 * Throws RangeError for a body of wrong length, Error for a slice that lacks a key of `keysOf`.
 * @param writerMs the writer's clock in milliseconds: a journal timestamp is max(previous, min(cause, writer)). A rebuild
 *   passes Infinity and each entry's journalled timestamp as its cause, so that timestamps are copied.
 */
export function fold(before: Slice, entries: readonly Entry[], writerMs: number): Changes {
  const slice: Slice = {
    network: before.network,
    head: before.head,
    owners: new Map(before.owners),
    verified: new Map(before.verified),
    nextClusterNumber: new Map(before.nextClusterNumber),
    nextClusterId: new Map(before.nextClusterId),
  }
  const changes: Changes = {
    head: { ...slice.head },
    journal: [],
    names: [],
    clusters: [],
    wallets: [],
    walletUpdates: [],
  }
  for (const entry of entries) {
    const head = changes.head
    head.seq += 1
    head.atMs = Math.max(head.atMs, Math.min(entry.causeMs, writerMs))
    // named one by one: a spread costs more than all the rest of the row
    const row: JournalRow = {
      kind: entry.kind,
      position: entry.position,
      txKey: entry.txKey,
      causeMs: entry.causeMs,
      body: entry.body,
      seq: head.seq,
      atMs: head.atMs,
      publicFirst: head.publicSeq + 1,
      publicCount: 0,
      actor: null,
      effects: NO_EFFECTS,
    }
    apply(slice, changes, row)
    head.publicSeq += row.publicCount
    changes.journal.push(row)
  }
  return changes
}

function apply(slice: Slice, changes: Changes, row: JournalRow): void {
  switch (row.kind) {
    case 'bid':
      applyBid(slice, changes, row)
      break
    case 'minimum':
      if (row.body.length !== 32)
        throw new RangeError(`the body of a minimum is one word, not ${row.body.length} bytes`)
      changes.head.minimumWei = wordToBigInt(row.body)
  }
}

function applyBid(slice: Slice, changes: Changes, row: JournalRow): void {
  const bid = decodeBid(row.body)
  const actor = addressOfWord(bid.from)
  row.actor = actor
  const verdict = judgeBid(bid, changes.head.minimumWei, (name) => slice.owners.has(name))
  const nameRow: NameRow = {
    seq: row.seq,
    txKey: row.txKey,
    name: verdict.name,
    cluster: null,
    outcome: verdict.outcome,
  }
  changes.names.push(nameRow)
  if (verdict.outcome === 'refused') {
    row.effects = encodeBidEffects({ outcome: 'refused', reason: verdict.reason })
    return
  }
  if (verdict.outcome === 'lost') {
    row.effects = encodeBidEffects({ outcome: 'lost' })
    return
  }
  const effects = settleInCluster(slice, changes, row.seq, actor)
  nameRow.cluster = effects.cluster
  slice.owners.set(verdict.name, effects.cluster)
  row.effects = encodeBidEffects(effects)
  row.publicCount = effects.created ? 3 : effects.published ? 2 : 1
}

/** A winning wallet's cluster: the one it is verified in (its entry becomes public), else a new one with it verified as `main`. */
function settleInCluster(
  slice: Slice,
  changes: Changes,
  seq: number,
  wallet: Buffer,
): Extract<BidEffects, { outcome: 'won' }> {
  const key = keyOf(wallet)
  const entry = slice.verified.get(key)
  if (entry) {
    const { cluster } = entry
    if (!entry.isPrivate) return { outcome: 'won', cluster, created: false, published: null }
    changes.walletUpdates.push({
      ...entry,
      address: wallet,
      isVerified: true,
      isPrivate: false,
      updatedSeq: seq,
    })
    slice.verified.set(key, { ...entry, isPrivate: false })
    return {
      outcome: 'won',
      cluster,
      created: false,
      published: { walletName: entry.name, isBackedUp: entry.isBackedUp },
    }
  }
  const cluster = createCluster(slice, changes, seq, wallet, key)
  return { outcome: 'won', cluster, created: true, published: null }
}

function createCluster(slice: Slice, changes: Changes, seq: number, creator: Buffer, key: string): number {
  const n = slice.nextClusterNumber.get(key)
  if (n === undefined) throw new Error(`the slice lacks the cluster number of wallet 0x${creator.toString('hex')}`)
  const id = slice.nextClusterId?.get(key) ?? clusterId(slice.network, creator, n)
  slice.nextClusterNumber.set(key, n + 1)
  slice.nextClusterId?.delete(key)
  changes.head.serial += 1
  const cluster = changes.head.serial
  changes.clusters.push({ serial: cluster, id, createdSeq: seq })
  const entry = { cluster, name: DEFAULT_WALLET_NAME, isPrivate: false, isBackedUp: false }
  changes.wallets.push({
    cluster,
    address: creator,
    name: DEFAULT_WALLET_NAME,
    isVerified: true,
    isPrivate: false,
    isBackedUp: false,
    createdSeq: seq,
    updatedSeq: seq,
  })
  slice.verified.set(key, entry)
  return cluster
}
