import type { RulesVersion } from '../community/history.js'
import type { PaymentJudgement } from '../community/payment.js'
import type { Entry } from '../journal/entry.js'
import type { Network } from '../primitives/network.js'
import type { ChangeRefusal } from './refusal.js'

/** Head of a network's journal, which orders all writers. */
export interface Head {
  generation: number
  seq: number
  publicSeq: number
  atMs: number
  /** Serial of the newest cluster. */
  serial: number
  minimumWei: bigint
}

/** Keys of the rows that a batch may read; byte strings as `keyOf` texts. */
export interface Keys {
  names: Set<string>
  /** Wallets whose verified entry matters; each may also create a cluster. */
  wallets: Set<string>
  /** Signers of changes among `wallets`; their clusters are read whole. */
  actors: Set<string>
  /** Ids of clusters that changes name; these are read whole. */
  clusterIds: Set<string>
  /** Signers of `verify_wallet`, one per change: names of the clusters that they leave may move. */
  movers: string[]
  /** Ids of clusters whose names move on, one per slice. */
  slices: string[]
  /** Most names that the batch moves out of one cluster. */
  movedNames: number
  /** Communities, each with the time (ms) from which its rules are needed; their owners' clusters are read whole. */
  communities: Map<string, number>
  /** Community names that may be registered, as `fullName`. */
  communityNames: Set<string>
  /** Communities with a name assigned by a claim. */
  assignments: Set<string>
  /** Accounts whose claims names are assigned for. */
  claims: Set<string>
  /** Names requested for wallets of whole clusters. */
  walletNames: Set<string>
  /** True if a bid may make a wallet public, under a numbered name where its own is taken. */
  mayPublish: boolean
}

/** Full form of a community name: `community/name`. */
export const fullName = (community: string, name: string): string => `${community}/${name}`

/** Cluster in which a wallet is verified. */
interface VerifiedWallet {
  cluster: number
  isPrivate: boolean
}

/** Name of a cluster, with the seq of its registration. */
export interface ClusterName {
  name: string
  seq: number
}

/** Cluster with all its wallets. */
export interface ClusterState {
  /** Entries by address key. Rows are replaced, never changed. */
  wallets: Map<string, WalletRow>
  /**
   * Names that it holds, oldest first, with those that are still on their way to it and without those that leave it.
   * Where they may move, one more than the batch moves at most; else the oldest, and those that are communities.
   */
  names: ClusterName[]
}

/** Rows that a batch reads, as before it. `fold` works on copies, so a slice may be folded again. */
export interface Slice {
  network: Network
  head: Head
  /** Owned names, with the serial of the cluster that holds them: the target, while they are on their way. */
  owners: Map<string, number>
  verified: Map<string, VerifiedWallet>
  /** Smallest number whose cluster id is free, per wallet that is unverified or may become so within the batch. */
  nextClusterNumber: Map<string, number>
  /** Clusters read whole, by serial: those of actors, named ones, those of privately verified wallets. */
  clusters: Map<number, ClusterState>
  /** Serials of named clusters that exist, by id key. */
  clusterSerials: Map<string, number>
  /** Rules of requested communities in journal order, from those in force at the requested time on. */
  communities: Map<string, readonly RulesVersion[]>
  /**
   * Taken community names (`fullName`) among those of the batch, plus any that collide with a wallet name, each with
   * the sequence number of its registration.
   */
  communityNames: Map<string, number>
  /** Names that were assigned to whole clusters, and for claims of the batch, by `assignmentOf`. */
  assigned: Map<string, string>
  /** Moves under way from or to whole clusters, and those that slices carry on, by source. */
  moves: Map<number, Move>
}

/** Names that leave in slices (moves.ts). Clusters are serials. */
export interface MoveRow {
  source: number
  target: number
  /** Entry that began it. */
  seq: number
  /** Stored address of the wallet that the names move with. */
  actor: Buffer
}

/** Move as the fold knows it. */
interface Move extends MoveRow {
  /** Names still to move, oldest first: all, or one more than the batch moves at most; none where it has no slice. */
  names: readonly ClusterName[]
}

/** Key of an assignment by its cluster (a serial), or by the account (a stored address) whose claim it was for. */
export const assignmentOf = (community: string, by: number | Buffer): string =>
  `${community} ${typeof by === 'number' ? by : by.toString('hex')}`

export interface JournalRow extends Required<Entry> {
  seq: number
  atMs: number
  publicFirst: number
  publicCount: number
  /** Stored address of the public actor, null when nobody may be named. */
  actor: Buffer | null
  effects: Buffer
}

export interface NameRow {
  seq: number
  txKey: bigint | null
  /** null when malformed; the journal keeps the raw word. */
  name: string | null
  /** Cluster of the winner, else null. */
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
}

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
  /** False when an owner of the community registered it for a wallet that isn't publicly in the same cluster. */
  isVerified: boolean
  /** Cluster that got the name by a claim, else null. */
  assigned: number | null
  /** Stored address of the account whose claim that was, null where none was kept. */
  claim: Buffer | null
  seq: number
}

/** Transfer of a name's row to another cluster. */
export interface NameMove {
  name: string
  cluster: number
  updatedSeq: number
}

/** Accepted change: the cluster it was made in, if any. */
export interface Made {
  cluster: number | null
  /** False for a repeated change, which is accepted without effect. */
  hasEffect: boolean
}

interface ChangeOutcome extends Made {
  seq: number
  /** Reason for having no effect; null for an accepted change. */
  refusal: ChangeRefusal | null
}

/** Outcome of a payment for a community name. */
interface PaymentOutcome {
  seq: number
  judgement: PaymentJudgement
}

/** Rows changed by a batch, written in this order: removals, inserts, updates, moves. */
export interface Changes {
  head: Head
  journal: JournalRow[]
  names: NameRow[]
  clusters: ClusterRow[]
  wallets: WalletRow[]
  walletUpdates: WalletRow[]
  walletRemovals: Pick<WalletRow, 'cluster' | 'address'>[]
  nameMoves: NameMove[]
  /** Sources of moves that have ended. */
  movesEnded: number[]
  /** Moves that have begun and go on. */
  moves: MoveRow[]
  communities: CommunityRow[]
  communityNames: CommunityNameRow[]
  /** Names that their owners lose: another payment bought them. */
  communityNamesFreed: Pick<CommunityNameRow, 'community' | 'name'>[]
  payments: PaymentOutcome[]
  /** Outcomes of signed changes, in order. */
  outcomes: ChangeOutcome[]
}
