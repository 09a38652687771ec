import { BID_WORDS } from '../journal/bid.js'
import { encodeChange } from '../journal/change.js'
import { type ChangeEvent, encodeBidEffects, encodeChangeEffects, encodeCommunityEffects } from '../journal/effects.js'
import type { EntryKind } from '../journal/entry.js'
import type { PublicEvent } from '../journal/events.js'
import type { FeedLine } from '../journal/feedLine.js'
import { RULES } from '../journal/ruleset.js'
import { addressToWord, NOBODY } from '../primitives/address.js'
import { bigIntToWord, fromHex, keyOf, toHex } from '../primitives/bytes.js'
import { DEFAULT_WALLET_NAME, nameToWord } from '../primitives/name.js'
import { keysOf } from './index.js'
import { type Changes, type CommunityNameRow, fullName, type Keys, type Slice, type WalletRow } from './rows.js'
import { beginWork, finishWork, removeWallet, setWallet, type Work, wholeCluster } from './work.js'

/**
 * Public state as a fold of another service's feed, which shows no cause of its events. Rows are those of the service
 * itself, without what is private; of an entry the body holds what its events show, so that none is folded again.
 */

type Type = PublicEvent['type']

/** Events that may stand behind one in the same entry. */
const GOES_ON: Readonly<Partial<Record<Type, readonly Type[]>>> = {
  CREATE_CLUSTER: ['ADD_WALLET'],
  ADD_WALLET: ['ADD_WALLET'],
  UPDATE_WALLET_NAME: ['UPDATE_WALLET_NAME'],
  REMOVE_WALLET: ['REMOVE_WALLET', 'TRANSFER_NAME', 'VERIFY_WALLET'],
  TRANSFER_NAME: ['TRANSFER_NAME', 'VERIFY_WALLET'],
}
/** No entry has more: a stranger's file may give all its events one actor and time. */
const MOST_EVENTS = 2_048

/**
 * Events by their entries, as far as they show: wallets that an entry lists are in the order of their addresses. A
 * cluster that a bid made is one with it.
 */
export function entriesOf(lines: readonly FeedLine[]): FeedLine[][] {
  const entries: FeedLine[][] = []
  for (const line of lines) {
    const open = entries.at(-1)
    if (open && goesOn(open, line)) open.push(line)
    else entries.push([line])
  }
  return entries
}

function goesOn(entry: readonly FeedLine[], { event, actor, atMs }: FeedLine): boolean {
  const last = entry.at(-1)!
  if (atMs !== last.atMs || entry.length === MOST_EVENTS || !isSame(actor, last.actor)) return false
  if (event.type === 'REGISTER_NAME') return entry.length === 2 && isMadeByBid(entry)
  return GOES_ON[last.event.type]?.includes(event.type) === true
}

const isSame = (a: Buffer | null, b: Buffer | null): boolean => (a && b ? a.equals(b) : a === b)

function isMadeByBid([made, added]: readonly FeedLine[]): boolean {
  if (made!.event.type !== 'CREATE_CLUSTER' || added!.event.type !== 'ADD_WALLET') return false
  const { name, wallet } = added!.event
  return name === DEFAULT_WALLET_NAME && isSame(wallet, added!.actor)
}

/** Keys of the rows that entries of a feed read. */
export function keysOfLines(entries: readonly FeedLine[][]): Keys {
  const keys = keysOf([])
  const made = new Set<string>()
  for (const lines of entries)
    for (const { event, ids, actor } of lines) {
      if (event.type === 'CREATE_CLUSTER') made.add(ids[0]!)
      for (const id of ids) if (!made.has(id)) keys.clusterIds.add(keyOf(fromHex(id)))
      if (event.type === 'REGISTER_COMMUNITY_NAME' && actor) keys.wallets.add(keyOf(actor))
    }
  return keys
}

/** Folds entries of a feed, in order, into the rows to write. @throws RangeError for an event that fits no state */
export function foldLines(before: Slice, entries: readonly FeedLine[][]): Changes {
  const work = beginWork(before, [], RULES)
  work.clusters ??= new Map()
  const serials = new Map(
    [...before.clusterSerials].map(([key, serial]) => [toHex(Buffer.from(key, 'latin1')), serial]),
  )
  const { head, journal } = work.changes
  for (const lines of entries) {
    const { actor, atMs } = lines[0]!
    if (atMs < head.atMs) throw new RangeError(`event ${lines[0]!.number} is older than the one before it`)
    head.seq += 1
    head.atMs = atMs
    const events = lines.map((line) => apply(work, serials, line))
    const place = { seq: head.seq, atMs, causeMs: atMs, publicFirst: head.publicSeq + 1, publicCount: events.length }
    journal.push({ ...contentOf(events, actor), ...place, position: null, txKey: null, actor })
    head.publicSeq += events.length
  }
  return finishWork(work, before)
}

/** Applies an event. @returns it with its clusters, and all that the service knows of its wallet */
function apply(work: Work, serials: Map<string, number>, { event, ids, actor, number }: FeedLine): PublicEvent {
  const { changes } = work
  const { seq } = changes.head
  const misfit = (): RangeError => new RangeError(`event ${number} (${event.type}) fits no state of the feed before it`)
  if (event.type === 'CREATE_CLUSTER') {
    const serial = ++changes.head.serial
    changes.clusters.push({ serial, id: fromHex(ids[0]!), createdSeq: seq })
    serials.set(ids[0]!, serial)
    work.clusters!.set(serial, { wallets: new Map(), names: [] })
    return { ...event, cluster: serial }
  }
  const [cluster = null, from = null] = ids.map((id) => serials.get(id) ?? null)
  if (event.type === 'REGISTER_COMMUNITY_NAME') {
    if (ids.length > 0 && cluster === null) throw misfit()
    const { community, name, wallet } = event
    const home = actor && work.verified.get(keyOf(actor))?.cluster
    // a wallet took part if it acted itself, or a wallet verified in the same cluster did
    const isVerified = isSame(actor, wallet) || (cluster !== null && home === cluster)
    setName(work, { community, name, address: wallet, isVerified, assigned: null, claim: null, seq })
    return { ...event, cluster }
  }
  if (cluster === null) throw misfit()
  if (event.type === 'REGISTER_NAME') {
    changes.names.push({ seq, txKey: null, name: event.name, cluster, outcome: 'won' })
    return { ...event, cluster }
  }
  if (event.type === 'TRANSFER_NAME') {
    if (from === null) throw misfit()
    changes.nameMoves.push({ name: event.name, cluster, updatedSeq: seq })
    return { ...event, cluster, from }
  }
  const address = event.wallet
  const entry = wholeCluster(work, cluster).wallets.get(keyOf(address))
  if ((entry === undefined) !== (event.type === 'ADD_WALLET')) throw misfit()
  const set = (row: Partial<WalletRow>) => setWallet(work, { ...entry!, ...row, updatedSeq: seq })
  switch (event.type) {
    case 'ADD_WALLET': {
      const { name, isVerified, isBackedUp } = event
      const flags = { isVerified, isPrivate: false, isBackedUp }
      setWallet(work, { cluster, address, name, ...flags, createdSeq: seq, updatedSeq: seq })
      return { ...event, cluster }
    }
    case 'REMOVE_WALLET':
      removeWallet(work, cluster, keyOf(address))
      return { ...event, cluster }
    case 'UPDATE_WALLET_NAME':
      set({ name: event.name })
      return { ...event, cluster, isVerified: entry!.isVerified }
    case 'VERIFY_WALLET':
      set({ isVerified: true })
      return { ...event, cluster, name: entry!.name }
    case 'BACKUP_WALLET':
      set({ isBackedUp: true })
      return { ...event, cluster }
  }
}

/** Gives a name below a community to its owner, from an earlier one who has the money back. */
function setName({ changes, communityNames }: Work, row: CommunityNameRow): void {
  const { community, name, seq } = row
  const isOther = (one: CommunityNameRow): boolean => one.community !== community || one.name !== name
  if (communityNames.has(fullName(community, name))) changes.communityNames = changes.communityNames.filter(isOther)
  communityNames.set(fullName(community, name), seq)
  changes.communityNamesFreed.push({ community, name })
  changes.communityNames.push(row)
}

/** Kind, body and effects of an entry with these events. */
function contentOf(
  events: readonly PublicEvent[],
  actor: Buffer | null,
): { kind: EntryKind; body: Buffer; effects: Buffer } {
  const last = events.at(-1)!
  if (last.type === 'REGISTER_NAME') {
    const { cluster, name, amountWei } = last
    const words = [
      Buffer.alloc(BID_WORDS.from),
      addressToWord(actor ?? NOBODY),
      bigIntToWord(amountWei),
      nameToWord(name),
    ]
    const effects = encodeBidEffects({ outcome: 'won', cluster, created: events.length > 1, published: null })
    return { kind: 'bid', body: Buffer.concat(words), effects }
  }
  if (last.type === 'REGISTER_COMMUNITY_NAME') {
    const { cluster, community, name, wallet } = last
    const kind = 'register_community_name'
    const body = encodeChange({ kind, actor: actor ?? wallet, community, name, wallet, met: null, isAssigned: false })
    return { kind, body, effects: encodeCommunityEffects({ outcome: 'registered', cluster }) }
  }
  const effects = encodeChangeEffects({ cluster: last.cluster, events: events as readonly ChangeEvent[] })
  return { kind: 'move_names', body: Buffer.alloc(0), effects }
}
