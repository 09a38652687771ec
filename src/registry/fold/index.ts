import { PRICE_GRACE_MS } from '../community/history.js'
import { isClusterChangeKind } from '../journal/change.js'
import type { DecodedEntry } from '../journal/decode.js'
import { NO_EFFECTS } from '../journal/effects.js'
import type { PaymentContent } from '../journal/payment.js'
import { rulesetOfVersion } from '../journal/ruleset.js'
import { mapKey } from '../primitives/bytes.js'
import { applyBid } from './bid.js'
import { applyClusterChange } from './change.js'
import {
  applyCommunityConfiguration,
  applyCommunityNamePayment,
  applyCommunityNameRegistration,
  claimAccountOfAssignment,
} from './community.js'
import { continueNameMove } from './moves.js'
import type { ChangeRefusal } from './refusal.js'
import {
  type AcceptedChange,
  communityNameKey,
  type JournalRow,
  type LoadedRegistryRows,
  type RegistryRowKeys,
  type RowChanges,
} from './rows.js'
import { beginFold, type FoldState, finishFold } from './work.js'

/**
 * This module makes the registry's rows from journal entries, as a pure fold. `rowKeysOfEntries` lists the keys of the
 * rows that a batch reads, the writer loads these rows into a `LoadedRegistryRows`, and the fold returns the rows to
 * write.
 */

/** Keys of the rows that a batch of entries reads. */
export function rowKeysOfEntries(
  entries: readonly DecodedEntry[],
  rulesOf = rulesetOfVersion,
): RegistryRowKeys {
  const keys: RegistryRowKeys = {
    names: new Set(),
    wallets: new Set(),
    actors: new Set(),
    clusterIds: new Set(),
    movers: [],
    continuedMoves: [],
    movedNames: 0,
    communities: new Map(),
    communityNames: new Set(),
    assignments: new Set(),
    claims: new Set(),
    walletNames: new Set(),
    mayPublish: false,
  }
  for (const entry of entries) {
    addKeysOfEntry(keys, entry)
    if (entry.kind === 'verify_wallet' || entry.kind === 'move_names')
      keys.movedNames += rulesOf(entry.ruleset).namesPerEntry
  }
  addCommunityBidders(keys, entries)
  return keys
}

function addKeysOfEntry(keys: RegistryRowKeys, { content, causeMs }: DecodedEntry): void {
  if ('actor' in content && content.actor)
    for (const known of [keys.wallets, keys.actors]) known.add(mapKey(content.actor))
  switch (content.kind) {
    case 'bid':
      if (content.name === null) return
      keys.names.add(content.name)
      keys.wallets.add(mapKey(content.wallet))
      keys.mayPublish = true
      return
    case 'sign_membership':
      keys.clusterIds.add(mapKey(content.clusterId))
      return
    case 'verify_wallet':
      keys.clusterIds.add(mapKey(content.clusterId))
      keys.movers.push(mapKey(content.actor))
      return
    case 'move_names':
      keys.continuedMoves.push(mapKey(content.clusterId))
      return
    case 'add_wallets':
    case 'rename_wallets':
      for (const { name } of content.wallets) keys.walletNames.add(name)
      return
    case 'configure_community':
      addCommunity(keys, content.community, causeMs)
      return
    case 'register_community_name':
      addCommunityName(keys, content, content.wallet, causeMs)
      if (content.isAssigned) keys.assignments.add(content.community)
      if (claimAccountOfAssignment(content))
        keys.claims.add(mapKey(claimAccountOfAssignment(content)!))
      return
    case 'pay_community_name':
      addCommunityName(
        keys,
        content,
        content.payment.payer,
        content.payment.blockMs - PRICE_GRACE_MS,
      )
  }
}

type CommunityAndName = Pick<PaymentContent, 'community' | 'name'>

function addCommunityName(
  keys: RegistryRowKeys,
  { community, name }: CommunityAndName,
  wallet: Buffer,
  sinceMs: number,
): void {
  if (community === null || name === null) return
  addCommunity(keys, community, sinceMs)
  keys.wallets.add(mapKey(wallet))
  keys.communityNames.add(communityNameKey(community, name))
}

function addCommunity(keys: RegistryRowKeys, community: string, sinceMs: number): void {
  keys.names.add(community)
  keys.communities.set(community, Math.min(sinceMs, keys.communities.get(community) ?? sinceMs))
}

/** Adds bidders for names that the batch may make communities: their clusters are loaded in full. */
function addCommunityBidders(keys: RegistryRowKeys, entries: readonly DecodedEntry[]): void {
  for (const { content } of entries) {
    if (content.kind === 'bid' && content.name !== null && keys.communities.has(content.name))
      keys.actors.add(mapKey(content.wallet))
  }
}

/**
 * Folds entries, in order, into the rows to write. A refused change has no effect, and its refusal is in `outcomes`.
 * @param writerMs clock of the writer, ms. An entry's timestamp is the time of its block or request, but not later than
 * this clock and not earlier than the timestamps of earlier entries. The timestamp of a cluster change without a public
 * event does not bound later timestamps, which would reveal it. A rebuild passes Infinity, and each entry's stored
 * timestamp as its time, so that timestamps are copied.
 * @param rulesOf rules by version; each entry is decided by its own version
 * @throws Error for a slice without a key of `rowKeysOfEntries`; errors of `rulesOf`
 */
export function foldEntriesToRows(
  before: LoadedRegistryRows,
  entries: readonly DecodedEntry[],
  writerMs: number,
  rulesOf = rulesetOfVersion,
): RowChanges {
  const work = beginFold(before, entries)
  const { changes } = work
  for (const entry of entries) {
    work.rules = rulesOf(entry.ruleset)
    const head = changes.head
    const previousMs = head.atMs
    head.seq += 1
    head.atMs = Math.max(head.atMs, Math.min(entry.causeMs, writerMs))
    // listed field by field: a spread here takes longer than the rest of the loop's work for a row
    const row: JournalRow = {
      kind: entry.kind,
      position: entry.position,
      txKey: entry.txKey,
      causeMs: entry.causeMs,
      body: entry.body,
      ruleset: entry.ruleset,
      seq: head.seq,
      atMs: head.atMs,
      publicFirst: head.publicSeq + 1,
      publicCount: 0,
      actor: null,
      effects: NO_EFFECTS,
    }
    applyEntry(work, row, entry)
    head.publicSeq += row.publicCount
    // a change of a cluster without a public event must not influence later timestamps
    if (row.publicCount === 0 && isClusterChangeKind(row.kind)) head.atMs = previousMs
    changes.journal.push(row)
  }
  return finishFold(work, before)
}

function applyEntry(work: FoldState, row: JournalRow, { content }: DecodedEntry): void {
  switch (content.kind) {
    case 'bid':
      applyBid(work, row, content)
      return
    case 'minimum':
      work.changes.head.minimumWei = content.minimumWei
      return
    case 'configure_community':
      addOutcome(work, row, applyCommunityConfiguration(work, row, content))
      return
    case 'register_community_name':
      addOutcome(work, row, applyCommunityNameRegistration(work, row, content))
      return
    case 'pay_community_name':
      applyCommunityNamePayment(work, row, content)
      return
    case 'move_names':
      continueNameMove(work, row, content)
      return
    default:
      addOutcome(work, row, applyClusterChange(work, row, content))
  }
}

function addOutcome(
  { changes }: FoldState,
  { seq }: JournalRow,
  made: AcceptedChange | ChangeRefusal,
): void {
  if ('code' in made) changes.outcomes.push({ seq, refusal: made, hasEffect: false, cluster: null })
  else
    changes.outcomes.push({ seq, refusal: null, hasEffect: made.hasEffect, cluster: made.cluster })
}
