import { encodeChange } from '../journal/change.js'
import {
  type ChangeEvent,
  encodeBidEffects,
  encodeChangeEffects,
  encodeCommunityEffects,
} from '../journal/effects.js'
import { eventWriter, type FeedItem, type PublicEvent } from '../journal/events.js'
import { MOST_WALLETS, RULESET_VERSION } from '../journal/ruleset.js'
import { addressOfWord, addressToWord, NOBODY, parseWallet } from '../primitives/address.js'
import { bigIntToWord, fromHex, keyOf } from '../primitives/bytes.js'
import { DEFAULT_WALLET_NAME, nameToWord, parseName } from '../primitives/name.js'
import { NETWORK_LETTER, type Network } from '../primitives/network.js'
import { keysOf } from './index.js'
import { type Changes, fullName, type JournalRow, type Keys, type Slice } from './rows.js'
import { beginWork, finishWork, removeWallet, setWallet, type Work, wholeCluster } from './work.js'

/**
 * Public state as a fold of another service's feed, which shows events and no causes. Rows are the service's own,
 * without what is private; entries have no bodies to be folded again.
 */

/** Event of another service's feed. What its type does not show is blank. */
export interface ToldEvent extends Pick<FeedItem, 'number' | 'actor' | 'atMs'> {
  generation: number
  /** Its clusters are places in `ids`. */
  event: PublicEvent
  /** Public ids of its clusters, hex. */
  ids: readonly string[]
}

const EVENT_ID = /^[mt]-([1-9]\d{0,8})-([1-9]\d{0,14})$/
/** The last time that a date can have. */
const LAST_MS = 8_640_000_000_000_000
const CLUSTER_ID = /^0x[0-9a-f]{64}$/

/**
 * Creates a reader of a feed's lines, each byte for byte as this service would write it.
 * @returns gives the event, and the line as parsed; throws RangeError for any other text
 */
export function createTeller(
  network: Network,
): (line: string) => { told: ToldEvent; json: unknown } {
  let ids: string[] = []
  let ofFeed: number = 0
  let write = eventWriter(network, 0, (at) => ids[at]!)
  return (line) => {
    try {
      const json = JSON.parse(line)
      const { id, type, from, timestamp: atMs, data } = json
      const { name, community, address, wei_amount: wei, cluster_id: own, to } = data
      const [, generation, number] = EVENT_ID.exec(id)!
      if (ofFeed !== Number(generation))
        write = eventWriter(network, Number(generation), (at) => ids[at]!)
      ofFeed = Number(generation)
      if (to) ids = [to, data.from_cluster_id]
      else ids = own ? [own] : []
      const event = {
        type,
        cluster: own === null ? null : 0,
        from: 1,
        name,
        community,
        wallet: address === undefined ? undefined : bytesOf(parseWallet(address)),
        amountWei: wei === undefined ? undefined : BigInt(wei),
        isVerified: data.is_verified === true,
        isBackedUp: data.is_backed_up === true,
      } as PublicEvent
      const sender = bytesOf(parseWallet(from))
      const actor = sender.equals(NOBODY) ? null : sender
      const told = { number: Number(number), generation: ofFeed, event, ids, atMs, actor }
      const isIt =
        ids.every((one) => CLUSTER_ID.test(one)) &&
        (ids.length > 0 || type === 'REGISTER_COMMUNITY_NAME')
      const isNamed = isName(name) && isName(community) && id[0] === NETWORK_LETTER[network]
      const isWritten =
        write({ number: told.number, event, actor, atMs, place: 0, count: 1 }) === line
      if (
        isIt &&
        isNamed &&
        isWritten &&
        Number.isSafeInteger(atMs) &&
        atMs >= 0 &&
        atMs <= LAST_MS
      )
        return { told, json }
    } catch {
      // any text may come, and what is made of it fails in many ways
    }
    throw new RangeError('this is no event of the feed')
  }
}

const isName = (text?: string): boolean => text === undefined || parseName(text) === text

function bytesOf(address: { bytes: Buffer } | string): Buffer {
  if (typeof address === 'string') throw new RangeError(address)
  return address.bytes
}

/** No entry has more: a stranger's file may give all its events one actor and time. */
const MOST_EVENTS = 2_048

/** Events by entries: as those of one show, wallets that are listed together stand by their addresses. */
export function entriesOf(events: readonly ToldEvent[]): ToldEvent[][] {
  const entries: ToldEvent[][] = []
  for (const told of events) {
    const open = entries.at(-1)
    if (open && goesOn(open, told)) open.push(told)
    else entries.push([told])
  }
  return entries
}

function goesOn(entry: readonly ToldEvent[], { event, actor, atMs, ids }: ToldEvent): boolean {
  const last = entry.at(-1)!
  if (atMs !== last.atMs || entry.length === MOST_EVENTS || !isSame(actor, last.actor)) return false
  const { type } = last.event
  if (event.type === 'ADD_WALLET') return type === 'CREATE_CLUSTER' || type === 'ADD_WALLET'
  // a bid that made its wallet's cluster
  if (event.type !== 'REGISTER_NAME' || type !== 'ADD_WALLET' || entry.length !== 2) return false
  const { name, wallet, isVerified, isBackedUp } = last.event
  const isFirst = name === DEFAULT_WALLET_NAME && isSame(wallet, actor) && isVerified && !isBackedUp
  return (
    isFirst &&
    entry[0]!.event.type === 'CREATE_CLUSTER' &&
    entry.every((one) => one.ids[0] === ids[0])
  )
}

const isSame = (a: Buffer | null, b: Buffer | null): boolean => (a && b ? a.equals(b) : a === b)

/** Keys of the rows that entries read. */
export function keysOfTold(entries: readonly ToldEvent[][]): Keys {
  const keys = keysOf([])
  const made = new Set<string>()
  for (const entry of entries) {
    for (const { event, ids, actor } of entry) {
      if (event.type === 'CREATE_CLUSTER') made.add(ids[0]!)
      for (const id of ids) if (!made.has(id)) keys.clusterIds.add(keyOf(fromHex(id)))
      if (event.type === 'TRANSFER_NAME') keys.names.add(event.name)
      const asks =
        event.type === 'REGISTER_COMMUNITY_NAME' ||
        (event.type === 'REGISTER_NAME' && entry.length === 1)
      if (asks && actor) keys.wallets.add(keyOf(actor))
    }
  }
  return keys
}

/** In order. @throws RangeError for an event that fits no state */
export function foldTold(before: Slice, entries: readonly ToldEvent[][]): Changes {
  const work = beginWork(before, [])
  work.clusters ??= new Map()
  const { head, journal } = work.changes
  for (const entry of entries) {
    const { actor, atMs, number } = entry[0]!
    if (atMs < head.atMs) throw new RangeError(`event ${number} is older than the one before it`)
    head.seq += 1
    head.atMs = atMs
    for (const told of entry) apply(work, told)
    const events = entry.map(({ event }) => event)
    const { kind, body, effects } = contentOf(events, actor)
    journal.push({
      seq: head.seq,
      kind,
      position: null,
      txKey: null,
      atMs,
      causeMs: atMs,
      publicFirst: head.publicSeq + 1,
      publicCount: events.length,
      actor,
      body,
      ruleset: RULESET_VERSION,
      effects,
    })
    head.publicSeq += events.length
  }
  return finishWork(work, before)
}

/** Applies an event, which gets its clusters' serials, and all that is known of its wallet. */
function apply(work: Work, { event, ids, actor, number }: ToldEvent): void {
  const { changes, clusterSerials, communityNames } = work
  const { seq } = changes.head
  if (event.type === 'CREATE_CLUSTER') {
    const id = fromHex(ids[0]!)
    event.cluster = ++changes.head.serial
    changes.clusters.push({ serial: event.cluster, id, createdSeq: seq })
    clusterSerials.set(keyOf(id), event.cluster)
    work.clusters!.set(event.cluster, { wallets: new Map(), names: [] })
    return
  }
  const [cluster = null, from = null] = ids.map((id) => clusterSerials.get(keyOf(fromHex(id))))
  const misfit = () =>
    new RangeError(`event ${number} (${event.type}) fits no state of the feed before it`)
  if (cluster === null && ids.length > 0) throw misfit()
  if (event.type === 'REGISTER_COMMUNITY_NAME') {
    const { community, name, wallet: address } = event
    event.cluster = cluster
    // a wallet took part if it acted itself, or a wallet verified in the same cluster did
    const home = actor ? work.verified.get(keyOf(actor))?.cluster : undefined
    const isVerified = isSame(actor, address) || home === cluster
    const full = fullName(community, name)
    if (communityNames.has(full))
      changes.communityNames = changes.communityNames.filter(
        (one) => fullName(one.community, one.name) !== full,
      )
    communityNames.set(full, seq)
    changes.communityNamesFreed.push({ community, name })
    changes.communityNames.push({
      community,
      name,
      address,
      isVerified,
      assigned: null,
      claim: null,
      seq,
    })
    return
  }
  event.cluster = cluster!
  if (event.type === 'REGISTER_NAME') {
    // a bid names a wallet of EVM or Solana, and goes to the cluster in which that is verified
    const isBidder = actor && addressOfWord(addressToWord(actor)).equals(actor)
    if (!isBidder || work.verified.get(keyOf(actor))?.cluster !== cluster) throw misfit()
    work.owners.set(event.name, event.cluster)
    changes.names.push({ seq, txKey: null, name: event.name, cluster, outcome: 'won' })
    return
  }
  if (event.type === 'TRANSFER_NAME') {
    if (from === null || work.owners.get(event.name) !== from) throw misfit()
    event.from = from
    work.owners.set(event.name, event.cluster)
    changes.nameMoves.push({ name: event.name, cluster: event.cluster, updatedSeq: seq })
    return
  }
  applyToWallet(work, event, misfit)
}

type WalletEvent = Exclude<ChangeEvent, { type: 'CREATE_CLUSTER' | 'TRANSFER_NAME' }>

function applyToWallet(work: Work, event: WalletEvent, misfit: () => Error): void {
  const { seq } = work.changes.head
  const { cluster, wallet: address } = event
  const { wallets } = wholeCluster(work, cluster)
  const entry = wallets.get(keyOf(address))
  if (event.type === 'ADD_WALLET') {
    if (entry || wallets.size >= MOST_WALLETS) throw misfit()
    const { name, isVerified, isBackedUp } = event
    const isPrivate = false
    const createdSeq = seq
    const updatedSeq = seq
    setWallet(work, {
      cluster,
      address,
      name,
      isVerified,
      isPrivate,
      isBackedUp,
      createdSeq,
      updatedSeq,
    })
    return
  }
  if (!entry) throw misfit()
  const updated = { ...entry, updatedSeq: seq }
  if (event.type === 'REMOVE_WALLET') removeWallet(work, cluster, keyOf(address))
  else if (event.type === 'BACKUP_WALLET') setWallet(work, { ...updated, isBackedUp: true })
  else if (event.type === 'VERIFY_WALLET') {
    Object.assign(event, { name: entry.name, isVerified: true })
    setWallet(work, { ...updated, isVerified: true })
  } else if (event.type === 'UPDATE_WALLET_NAME') {
    event.isVerified = entry.isVerified
    setWallet(work, { ...updated, name: event.name })
  } else event satisfies never
}

/** Kind, body and effects of an entry with these events. */
function contentOf(
  events: readonly PublicEvent[],
  actor: Buffer | null,
): Pick<JournalRow, 'kind' | 'body' | 'effects'> {
  const last = events.at(-1)!
  if (last.type === 'REGISTER_NAME') {
    const words = [
      Buffer.alloc(32),
      addressToWord(actor ?? NOBODY),
      bigIntToWord(last.amountWei),
      nameToWord(last.name),
    ]
    const created = events.length > 1
    const effects = encodeBidEffects({
      outcome: 'won',
      cluster: last.cluster,
      created,
      published: null,
    })
    return { kind: 'bid', body: Buffer.concat(words), effects }
  }
  if (last.type === 'REGISTER_COMMUNITY_NAME') {
    const { cluster, community, name, wallet } = last
    const kind = 'register_community_name'
    const body = encodeChange({
      kind,
      actor: actor ?? wallet,
      community,
      name,
      wallet,
      met: null,
      isAssigned: false,
    })
    return { kind, body, effects: encodeCommunityEffects({ outcome: 'registered', cluster }) }
  }
  const effects = encodeChangeEffects({
    cluster: last.cluster,
    events: events as readonly ChangeEvent[],
  })
  return { kind: 'move_names', body: Buffer.alloc(0), effects }
}
