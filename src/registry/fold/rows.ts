import type { RulesVersion } from '../community/history.js'
import type { PaymentJudgement } from '../community/payment.js'
import type { Entry } from '../journal/entry.js'
import type { Network } from '../primitives/network.js'
import type { ChangeRefusal } from './refusal.js'

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
  /** Those of them that have signed a change: the whole cluster they are verified in is read. */
  actors: Set<string>
  /** Ids of clusters that are named, which are read whole too. */
  clusterIds: Set<string>
  /**
   * Communities, each with the time (ms) from which its rules are needed: theirs and their holders' clusters are read.
   */
  communities: Map<string, number>
  /** Community names that may be registered, as `fullName` writes them. */
  communityNames: Set<string>
  /** Communities of which a cluster may get a name by a claim. */
  assignments: Set<string>
  /** Names that entries of whole clusters may get. */
  walletNames: Set<string>
}

/** A community name in full: `community/name`. */
export const fullName = (community: string, name: string): string => `${community}/${name}`

/** Where a wallet is verified. */
interface VerifiedWallet {
  cluster: number
  isPrivate: boolean
}

/** A name that a cluster holds, with the entry that registered it. */
export interface HeldName {
  name: string
  seq: number
}

/** A whole cluster. */
export interface ClusterState {
  /** Its entries by their addresses' keys. Rows are replaced, never changed. */
  wallets: Map<string, WalletRow>
  /** The names it holds, oldest first. */
  names: HeldName[]
}

/** The rows that a batch reads, as they stand before it. `fold` works on copies, so a slice may be folded again. */
export interface Slice {
  network: Network
  head: Head
  /** Names that are owned, with the serial of the holder's cluster. */
  owners: Map<string, number>
  verified: Map<string, VerifiedWallet>
  /**
   * The smallest number whose cluster id is free, for wallets that are verified nowhere, or may be by the end of the
   * batch.
   */
  nextClusterNumber: Map<string, number>
  /** The ids of those numbers, from a loader that has computed them: they are costly. */
  nextClusterId?: Map<string, Buffer>
  /**
   * Clusters read whole, by serial: those of actors, those that are named, those of privately verified wallets. Bids
   * alone need none.
   */
  clusters: Map<number, ClusterState>
  /** Serials of the named clusters that exist, by the keys of their ids. */
  clusterSerials: Map<string, number>
  /**
   * Rules of the communities asked for, in the journal's order: those in force at the time asked for, and all later
   * ones.
   */
  communities: Map<string, readonly RulesVersion[]>
  /**
   * The names below communities that belong to somebody: of those asked for, and those that would hide an entry of a
   * whole cluster.
   */
  communityNames: Set<string>
  /** The names that whole clusters have got by a claim, by `assignmentOf`. */
  assigned: Map<string, string>
}

export const assignmentOf = (community: string, cluster: number): string => `${community} ${cluster}`

export interface JournalRow extends Entry {
  ruleset: number
  seq: number
  atMs: number
  publicFirst: number
  publicCount: number
  /** The public actor's stored address, null where none may be named. */
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
  /** The entry that added it; of one that was private, the entry that made it public. */
  createdSeq: number
  updatedSeq: number
}

/** A configuration of a community. */
export interface CommunityRow {
  name: string
  seq: number
}

/** A name below a community. */
export interface CommunityNameRow {
  community: string
  name: string
  /** Its owner's stored address. */
  address: Buffer
  /**
   * The owner had a hand in it: false where an owner of the community registered it for somebody else, or for one whom
   * only members know as of its cluster.
   */
  isVerified: boolean
  /** The cluster that got it by a claim, else null. */
  assigned: number | null
  seq: number
}

/** A name that went to another cluster. */
export interface NameMove {
  name: string
  cluster: number
  updatedSeq: number
}

/** What became of a signed change. */
interface ChangeOutcome {
  seq: number
  /** Why it has no effect; null when it holds. */
  refusal: ChangeRefusal | null
  /** Whether any row is another than before; a repeated change holds and changes nothing. */
  hasEffect: boolean
  /** The cluster it was made in. */
  cluster: number | null
}

/** What became of a payment for a name below a community. */
interface PaymentOutcome {
  seq: number
  judgement: PaymentJudgement
}

/**
 * What a batch changes. Inserts go by COPY, the rest is rare. To be written in this order: removals, inserts, updates,
 * moves.
 */
export interface Changes {
  head: Head
  journal: JournalRow[]
  names: NameRow[]
  clusters: ClusterRow[]
  wallets: WalletRow[]
  walletUpdates: WalletRow[]
  walletRemovals: Pick<WalletRow, 'cluster' | 'address'>[]
  nameMoves: NameMove[]
  communities: CommunityRow[]
  communityNames: CommunityNameRow[]
  /** One a payment, in their order. */
  payments: PaymentOutcome[]
  /** One a signed change, in their order. */
  outcomes: ChangeOutcome[]
}
