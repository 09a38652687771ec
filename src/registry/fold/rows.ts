import type { RulesVersion } from '../community/history.js'
import type { CommunityPaymentDecision } from '../community/payment.js'
import type { Entry } from '../journal/entry.js'
import type { Network } from '../primitives/network.js'
import type { ChangeRefusal } from './refusal.js'

/** Head of a network's journal. Writers lock it, so all entries have one order. */
export interface JournalHead {
  generation: number
  /** Number of the newest entry. */
  seq: number
  /** Number of the newest public event. */
  publicSeq: number
  /** Minimum timestamp of the next entry, ms. */
  atMs: number
  /** Serial of the newest cluster. */
  serial: number
  minimumWei: bigint
}

/** Keys of the rows that a batch may read. Addresses and ids are in the text form of `mapKey`. */
export interface RegistryRowKeys {
  names: Set<string>
  /** Wallets whose verified wallet row is needed. Each of them may also create a cluster. */
  wallets: Set<string>
  /**
   * Signers of changes, and bidders for names that the batch may make communities; all are in `wallets`. Their clusters
   * are loaded in full.
   */
  actors: Set<string>
  /** Ids of clusters that changes refer to. They are loaded in full. */
  clusterIds: Set<string>
  /** Signers of `verify_wallet`, one per change. Names of the clusters that these wallets leave may move. */
  movers: string[]
  /** Ids of clusters whose names are still moving, one for each `move_names` entry of the batch. */
  continuedMoves: string[]
  /** Maximum number of names that the batch can move. */
  movedNames: number
  /**
   * Communities, each with the time (ms) from which its rules are needed. Their owners' clusters are loaded in full.
   */
  communities: Map<string, number>
  /** Community names that the batch possibly registers, by `communityNameKey`. */
  communityNames: Set<string>
  /** Communities in which the batch assigns a name after a claim. */
  assignments: Set<string>
  /** Accounts for whose airdrop claims the batch assigns names, as stored addresses (`claimAccountOfAssignment`). */
  claims: Set<string>
  /** Names that the batch's changes give to wallets of clusters that are loaded in full. */
  walletNames: Set<string>
  /**
   * True if the batch has a bid for a name. A bid may make a private wallet public, and that wallet gets a numbered
   * name if its name is taken.
   */
  mayPublish: boolean
}

/** Full form of a community name: `community/name`. */
export const communityNameKey = (community: string, name: string): string => `${community}/${name}`

/** Cluster in which a wallet is verified. */
interface VerifiedWallet {
  cluster: number
  isPrivate: boolean
}

/** Name that a cluster holds, with the seq of its registration. */
export interface ClusterName {
  name: string
  seq: number
}

/**
 * A cluster that is loaded in full: all public wallets, and the private ones where the batch can depend on them
 * (db/journal/sliceClusters.ts).
 */
export interface ClusterState {
  /** Wallets by address key. Rows are replaced and never mutated. */
  wallets: Map<string, WalletRow>
  /**
   * Names that the cluster holds, oldest first. Names still moving to it are included, and names moving away are not.
   * Loaded are the oldest name, and names that are communities or may become communities in the batch. If the cluster's
   * names may move, its oldest names are loaded too: one more than the batch can move.
   */
  names: ClusterName[]
}

/**
 * Rows that a batch of entries reads, in their state before the batch. The fold works on copies, so the same rows can
 * be folded again.
 */
export interface LoadedRegistryRows {
  network: Network
  head: JournalHead
  /** Serial of the cluster that holds a name, by name. For a name that is being moved it is the target cluster. */
  owners: Map<string, number>
  verified: Map<string, VerifiedWallet>
  /**
   * Smallest n whose cluster id (`deriveClusterId`) is free, for each wallet that is unverified or may become
   * unverified within the batch.
   */
  nextClusterNumber: Map<string, number>
  /**
   * Clusters loaded in full, by serial: clusters of actors and of communities' owners; clusters that a change refers to
   * by id; and, if the batch has bids, clusters of the batch's privately verified wallets.
   */
  clusters: Map<number, ClusterState>
  /** Serials of the existing clusters that the batch refers to by their id, by `mapKey` of the id. */
  clusterSerials: Map<string, number>
  /** Rules of requested communities in journal order, beginning with the rules in force at the requested time. */
  communities: Map<string, readonly RulesVersion[]>
  /**
   * Names below communities (`communityNameKey`) that are taken: names that the batch requests, and names that collide
   * with a wallet name. Each has the sequence number of its registration.
   */
  communityNames: Map<string, number>
  /**
   * Names assigned to loaded clusters, and names assigned for the claims that the batch makes, by
   * `communityAssignmentKey`.
   */
  assigned: Map<string, string>
  /**
   * Moves in progress from or to loaded clusters, and moves that the batch continues, by the serial of the cluster that
   * loses names.
   */
  moves: Map<number, LoadedNameMove>
}

/** A move of names between two clusters (by their serials) that takes several entries (moves.ts). */
export interface NameMoveRow {
  source: number
  target: number
  /** Number of the entry that began the move. */
  seq: number
  /** Stored address of the wallet that the names move with. */
  actor: Buffer
}

/** A move of names, with the names that the batch may move. */
interface LoadedNameMove extends NameMoveRow {
  /**
   * Names still to move, oldest first: at most one more than the batch can move. Empty where no entry of the batch
   * continues the move.
   */
  names: readonly ClusterName[]
}

/** Key of a name assigned after a claim, by its cluster (a serial) or by the claim's account (a stored address). */
export const communityAssignmentKey = (community: string, by: number | Buffer): string =>
  `${community} ${typeof by === 'number' ? by : by.toString('hex')}`

export interface JournalRow extends Required<Entry> {
  seq: number
  atMs: number
  /** Number of the entry's first public event, or of the next event if the entry has none. */
  publicFirst: number
  publicCount: number
  /** Stored address of the actor shown in public. Null where there is none, or none may be shown. */
  actor: Buffer | null
  effects: Buffer
}

/** Row of the table `names`: a bid, also one that did not win. */
export interface NameRow {
  seq: number
  txKey: bigint | null
  /** Null for a malformed name, whose raw bytes32 the journal keeps. */
  name: string | null
  /** Serial of the winner's cluster. Null for a bid that did not win. */
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
  /** Seq at which the wallet was added, or became public. */
  createdSeq: number
  updatedSeq: number
  /** Seq of the entry with the wallet's newest evidence that it belongs to the cluster. Null without evidence. */
  evidenceSeq: number | null
}

/** Entry (`seq`) that configured a community (`name`). */
export interface CommunityRow {
  name: string
  seq: number
}

/** Registered name below a community. */
export interface CommunityNameRow {
  community: string
  name: string
  /** Stored address of the owner. */
  address: Buffer
  /**
   * False if a wallet of the community's cluster registered the name for a wallet that is not in that cluster in
   * public.
   */
  isVerified: boolean
  /** Serial of the cluster that got the name after an airdrop claim. Null for other names. */
  assigned: number | null
  /**
   * Stored address of the account whose claim gave the name. Null for other names, and for entries of earlier versions,
   * which did not store the account.
   */
  claim: Buffer | null
  seq: number
}

/** Transfer of a name to another cluster: the columns that change in the name's row. */
export interface MovedName {
  name: string
  cluster: number
  updatedSeq: number
}

/** Accepted change, with the cluster in which it was made, if any. */
export interface AcceptedChange {
  cluster: number | null
  /** False for a repeated change, which is accepted without an effect. */
  hasEffect: boolean
}

interface ChangeOutcome extends AcceptedChange {
  seq: number
  /** Reason why the change has no effect; null for an accepted change. */
  refusal: ChangeRefusal | null
}

/** Decision about a payment for a community name. */
interface JudgedCommunityPayment {
  seq: number
  judgement: CommunityPaymentDecision
}

/** Rows changed by a batch, written in this order: removals, inserts, updates, transfers of names (`nameMoves`). */
export interface RowChanges {
  head: JournalHead
  journal: JournalRow[]
  names: NameRow[]
  clusters: ClusterRow[]
  wallets: WalletRow[]
  walletUpdates: WalletRow[]
  walletRemovals: Pick<WalletRow, 'cluster' | 'address'>[]
  nameMoves: MovedName[]
  /** Sources of moves that were in progress before the batch and that it has completed. */
  movesEnded: number[]
  /** Moves of names between clusters that the batch has begun and not completed. */
  moves: NameMoveRow[]
  communities: CommunityRow[]
  communityNames: CommunityNameRow[]
  /** Community names that their owners lose, because the names were registered again. */
  communityNamesFreed: Pick<CommunityNameRow, 'community' | 'name'>[]
  payments: JudgedCommunityPayment[]
  /** Outcomes of signed changes, in order. */
  outcomes: ChangeOutcome[]
}
