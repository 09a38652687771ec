import { type Bid, decideBid } from '../journal/bid.js'
import { type BidEffects, encodeBidEffects } from '../journal/effects.js'
import { mapKey } from '../primitives/bytes.js'
import { DEFAULT_WALLET_NAME, firstFreeName } from '../primitives/name.js'
import type { JournalRow, NameRow, WalletRow } from './rows.js'
import {
  createCluster,
  type FoldState,
  isNameTakenBelowCommunity,
  requireLoadedCluster,
  setWallet,
} from './work.js'

type WonBid = Extract<BidEffects, { outcome: 'won' }>

/** Folds a bid. A winning bid adds its name to the bidder's cluster. */
export function applyBid(work: FoldState, row: JournalRow, bid: Bid): void {
  const { changes } = work
  row.actor = bid.wallet
  const decision = decideBid(bid, changes.head.minimumWei, (name) => work.owners.has(name))
  const { seq, txKey } = row
  const { name, outcome } = decision
  const nameRow: NameRow = { seq, txKey, name, cluster: null, outcome }
  changes.names.push(nameRow)
  if (decision.outcome !== 'won') {
    row.effects = encodeBidEffects(decision)
    return
  }
  const effects = giveNameToBidder(work, seq, bid.wallet)
  nameRow.cluster = effects.cluster
  work.owners.set(decision.name, effects.cluster)
  work.clusters?.get(effects.cluster)?.names.push({ name: decision.name, seq })
  row.effects = encodeBidEffects(effects)
  row.publicCount = publicCountOf(effects)
}

/**
 * Number of public events of a bid that won: one for the name; two more for a new cluster and its wallet; one more for
 * a private wallet that becomes public.
 */
function publicCountOf({ created, published }: WonBid): number {
  if (created) return 3
  return published ? 2 : 1
}

/** Finds the bidder's cluster, or creates it. Makes a private bidder public. @returns the bid's effects */
function giveNameToBidder(work: FoldState, seq: number, wallet: Buffer): WonBid {
  const key = mapKey(wallet)
  const verified = work.verified.get(key)
  if (!verified) {
    const cluster = createCluster(work, seq, wallet, key, DEFAULT_WALLET_NAME)
    return { outcome: 'won', cluster, created: true, published: null }
  }
  const { cluster } = verified
  const published = verified.isPrivate ? publishWallet(work, seq, cluster, key) : null
  return { outcome: 'won', cluster, created: false, published }
}

/**
 * Makes a private wallet public. Its name was not reserved: if another public wallet of the cluster, or a name below
 * one of its communities, has that name, the wallet gets a numbered name.
 */
function publishWallet(
  work: FoldState,
  seq: number,
  cluster: number,
  key: string,
): { walletName: string; isBackedUp: boolean } {
  const state = requireLoadedCluster(work, cluster)
  const { wallets } = state
  const walletRow = wallets.get(key)
  if (!walletRow) throw new Error(`a verified wallet is missing in the slice of cluster ${cluster}`)
  const taken = new Set(
    [...wallets.values()].filter((other) => !other.isPrivate).map((other) => other.name),
  )
  const name = firstFreeName(
    walletRow.name,
    (candidate) => taken.has(candidate) || isNameTakenBelowCommunity(work, state, candidate),
  )
  setWallet(work, publicWalletRow(walletRow, name, seq))
  return { walletName: name, isBackedUp: walletRow.isBackedUp }
}

/**
 * Row of a private wallet that becomes public. `seq` replaces its sequence numbers, which reveal when the wallet was
 * added.
 */
export const publicWalletRow = (walletRow: WalletRow, name: string, seq: number): WalletRow => ({
  ...walletRow,
  name,
  isPrivate: false,
  createdSeq: seq,
  updatedSeq: seq,
})
