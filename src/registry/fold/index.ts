import { PRICE_GRACE_MS } from '../community/history.js'
import { BID_WORDS } from '../journal/bid.js'
import { actorOfChange, type ChangeKind, decodeChange, isChangeKind } from '../journal/change.js'
import { decodeCommunityChange, decodePayment, isCommunityChangeKind } from '../journal/communityChange.js'
import { NO_EFFECTS } from '../journal/effects.js'
import type { Entry } from '../journal/entry.js'
import { addressOfWord } from '../primitives/address.js'
import { keyOf, wordToBigInt } from '../primitives/bytes.js'
import { clusterId } from '../primitives/clusterId.js'
import { wordToName } from '../primitives/name.js'
import type { Network } from '../primitives/network.js'
import { applyBid } from './bid.js'
import { applyChange } from './change.js'
import { applyCommunityChange, applyPayment } from './community.js'
import { type Changes, type JournalRow, type Keys, pairOf, type Slice } from './rows.js'
import { beginWork, finishWork, type Work } from './work.js'

export type {
  ChangeOutcome,
  Changes,
  ClusterRow,
  ClusterState,
  CommunityNameRow,
  CommunityRow,
  Head,
  JournalRow,
  Keys,
  NameMove,
  NameRow,
  Slice,
  VerifiedWallet,
  WalletRow,
} from './rows.js'
export { assignmentOf, pairOf } from './rows.js'

/**
 * The registry is a pure fold of the journal. `keysOf(entries)` says which rows a batch touches, the writer loads them
 * into a `Slice`, `fold` gives the rows to write. The same code serves one signed change and 5,000 logs.
 */

/** The keys of the rows a batch reads. */
export function keysOf(entries: readonly Entry[]): Keys {
  const keys: Keys = {
    names: new Set(),
    wallets: new Set(),
    actors: new Set(),
    clusterIds: new Set(),
    communities: new Map(),
    communityNames: new Set(),
    assignments: new Set(),
    walletNames: new Set(),
  }
  for (const entry of entries) addKeys(keys, entry)
  if (keys.communities.size > 0) addHolders(keys, entries)
  return keys
}

function addKeys(keys: Keys, entry: Entry): void {
  const { kind } = entry
  if (kind === 'bid') {
    const name = bidName(entry)
    if (name === null) return
    keys.names.add(name)
    keys.wallets.add(bidder(entry))
  } else if (isChangeKind(kind)) addKeysOfChange(keys, kind, entry.body)
  else if (isCommunityChangeKind(kind)) addKeysOfCommunityChange(keys, kind, entry)
  else if (kind === 'pay_community_name') addKeysOfPayment(keys, entry.body)
}

const bidName = ({ body }: Entry): string | null => wordToName(body.subarray(BID_WORDS.name, BID_WORDS.referral))
const bidder = ({ body }: Entry): string => keyOf(addressOfWord(body.subarray(BID_WORDS.from, BID_WORDS.amount)))

function addActor(keys: Keys, actor: string): void {
  keys.wallets.add(actor)
  keys.actors.add(actor)
}

function addKeysOfChange(keys: Keys, kind: ChangeKind, body: Buffer): void {
  addActor(keys, keyOf(actorOfChange(body)))
  if (kind !== 'verify_wallet' && kind !== 'add_wallets' && kind !== 'rename_wallets') return
  const change = decodeChange(kind, body)
  if (change.kind === 'verify_wallet') keys.clusterIds.add(keyOf(change.clusterId))
  else if ('wallets' in change) for (const { name } of change.wallets) keys.walletNames.add(name)
}

function addKeysOfCommunityChange(keys: Keys, kind: Parameters<typeof decodeCommunityChange>[0], entry: Entry): void {
  const change = decodeCommunityChange(kind, entry.body)
  const { community, actor } = change
  addCommunity(keys, community, entry.causeMs)
  if (actor) addActor(keys, keyOf(actor))
  if (change.kind !== 'register_community_name') return
  keys.wallets.add(keyOf(change.wallet))
  keys.communityNames.add(pairOf(community, change.name))
  if (change.isAssigned) keys.assignments.add(community)
}

function addKeysOfPayment(keys: Keys, body: Buffer): void {
  const payment = decodePayment(body)
  const community = wordToName(payment.community)
  const name = wordToName(payment.name)
  if (community === null || name === null) return
  addCommunity(keys, community, payment.blockMs - PRICE_GRACE_MS)
  keys.wallets.add(keyOf(payment.payer))
  keys.communityNames.add(pairOf(community, name))
}

function addCommunity(keys: Keys, community: string, sinceMs: number): void {
  keys.names.add(community)
  keys.communities.set(community, Math.min(sinceMs, keys.communities.get(community) ?? sinceMs))
}

/** The clusters of communities are read whole, also of those whose names are registered in the batch itself. */
function addHolders(keys: Keys, entries: readonly Entry[]): void {
  for (const entry of entries) {
    const name = entry.kind === 'bid' ? bidName(entry) : null
    if (name !== null && keys.communities.has(name)) keys.actors.add(bidder(entry))
  }
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
 * Folds entries, in order, into the rows to write. A signed change that can't be made is left without effect and its refusal
 * told in `outcomes`; a writer of new ones refuses it then, a rebuild keeps it.
 * Throws RangeError for a body of wrong form, Error for a slice that lacks a key of `keysOf`.
 * @param writerMs the writer's clock in milliseconds: a journal timestamp is max(previous, min(cause, writer)). A rebuild
 *   passes Infinity and each entry's journalled timestamp as its cause, so that timestamps are copied.
 */
export function fold(before: Slice, entries: readonly Entry[], writerMs: number): Changes {
  const work = beginWork(before, entries)
  const { changes } = work
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
    apply(work, row)
    head.publicSeq += row.publicCount
    changes.journal.push(row)
  }
  return finishWork(work, before)
}

function apply(work: Work, row: JournalRow): void {
  switch (row.kind) {
    case 'bid':
      applyBid(work, row)
      break
    case 'minimum':
      if (row.body.length !== 32)
        throw new RangeError(`the body of a minimum is one word, not ${row.body.length} bytes`)
      work.changes.head.minimumWei = wordToBigInt(row.body)
      break
    case 'configure_community':
    case 'register_community_name':
      applyCommunityChange(work, row)
      break
    case 'pay_community_name':
      applyPayment(work, row)
      break
    default:
      applyChange(work, row)
  }
}
