import { encodeBidEffects, encodeChangeEffects } from '../journal/effects.js'
import { clustersOf, storedEvent } from '../journal/eventForms.js'
import { EVENTS, type PublicEvent, type PublicState } from '../journal/eventTypes.js'
import { MOST_WALLETS, RULESET_VERSION } from '../journal/ruleset.js'
import type { ReadEvent } from '../log/leafReader.js'
import { addressOfWord, addressToWord, NOBODY } from '../primitives/address.js'
import { bigIntToWord, fromHex, keyOf } from '../primitives/bytes.js'
import { nameToWord } from '../primitives/name.js'
import { setCommunityName } from './community.js'
import { keysOf } from './index.js'
import { type Changes, fullName, type JournalRow, type Keys, type Slice } from './rows.js'
import { beginWork, finishWork, removeWallet, setWallet, type Work, wholeCluster } from './work.js'

/**
 * Public state as a fold of another service's feed, which shows events and no causes. Rows are the service's own,
 * without what is private; entries have no bodies to be folded again.
 */

/** No entry has more: a stranger's file may give all its events one actor and time. */
const MOST_EVENTS = 2_048

/** Groups events into entries. Wallets that are listed together stand in the order of their addresses. */
export function entriesOf(events: readonly ReadEvent[]): ReadEvent[][] {
  const entries: ReadEvent[][] = []
  for (const event of events) {
    const open = entries.at(-1)
    if (open && open.length < MOST_EVENTS && isListedWith(open.at(-1)!, event)) open.push(event)
    else entries.push([event])
  }
  return entries
}

const isListedWith = (last: ReadEvent, { event, actor, atMs }: ReadEvent): boolean =>
  event.type === 'ADD_WALLET' &&
  (last.event.type === 'ADD_WALLET' || last.event.type === 'CREATE_CLUSTER') &&
  atMs === last.atMs &&
  isSame(actor, last.actor)

const isSame = (a: Buffer | null, b: Buffer | null): boolean => (a && b ? a.equals(b) : a === b)

/** Keys of the rows that entries read. */
export function keysOfCopy(entries: readonly ReadEvent[][]): Keys {
  const keys = keysOf([])
  const made = new Set<string>()
  for (const { event, actor } of entries.flat()) {
    if (event.type === 'CREATE_CLUSTER') made.add(event.cluster)
    const before = clustersOf(event).filter((id) => !made.has(id))
    for (const id of before) keys.clusterIds.add(keyOf(fromHex(id)))
    if (event.type === 'TRANSFER_NAME') keys.names.add(event.name)
    if (event.type === 'REGISTER_COMMUNITY_NAME')
      keys.communityNames.add(fullName(event.community, event.name))
    // the bidder of a cluster of this batch is verified in the batch
    const asks = event.type === 'REGISTER_NAME' ? before.length > 0 : 'community' in event
    if (asks && actor) keys.wallets.add(keyOf(actor))
  }
  return keys
}

/** In order. @throws RangeError for an event that does not fit the state */
export function foldCopy(before: Slice, entries: readonly ReadEvent[][]): Changes {
  const work = beginWork(before, [])
  work.clusters ??= new Map()
  const { head, journal } = work.changes
  for (const entry of entries) {
    const { actor, atMs, number } = entry[0]!
    if (atMs < head.atMs) throw new RangeError(`event ${number} is older than the one before it`)
    head.seq += 1
    head.atMs = atMs
    const events = entry.map((one) => apply(work, one))
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

/** Applies an event to the state. @returns the event as the journal keeps it */
function apply(work: Work, { event, actor, number }: ReadEvent): PublicEvent {
  const misfit = () =>
    new RangeError(`event ${number} (${event.type}) fits no state of the feed before it`)
  const serialOf = (id: string): number => {
    const serial = work.clusterSerials.get(keyOf(fromHex(id)))
    if (serial === undefined) throw misfit()
    return serial
  }
  const state = stateOf(work, { actor, serialOf, misfit })
  EVENTS[event.type].apply(state, event as never)
  const wallet =
    'wallet' in event && event.cluster !== null
      ? wholeCluster(work, serialOf(event.cluster)).wallets.get(keyOf(event.wallet))
      : undefined
  return storedEvent(event, serialOf, wallet)
}

interface Cause {
  actor: Buffer | null
  serialOf(id: string): number
  misfit(): Error
}

/** The state of the copy, as an event changes it. */
function stateOf(work: Work, { actor, serialOf, misfit }: Cause): PublicState {
  const { changes, owners } = work
  const { seq } = changes.head
  const home = actor ? work.verified.get(keyOf(actor))?.cluster : undefined
  const walletsOf = (cluster: string) => wholeCluster(work, serialOf(cluster)).wallets
  return {
    createCluster({ cluster }) {
      const id = fromHex(cluster)
      const serial = ++changes.head.serial
      changes.clusters.push({ serial, id, createdSeq: seq })
      work.clusterSerials.set(keyOf(id), serial)
      work.clusters!.set(serial, { wallets: new Map(), names: [] })
    },
    addWallet({ cluster, wallet: address, name, isVerified, isBackedUp }) {
      const wallets = walletsOf(cluster)
      if (wallets.has(keyOf(address)) || wallets.size >= MOST_WALLETS) throw misfit()
      setWallet(work, {
        cluster: serialOf(cluster),
        address,
        name,
        isVerified,
        isPrivate: false,
        isBackedUp,
        createdSeq: seq,
        updatedSeq: seq,
      })
    },
    changeWallet({ cluster, wallet }, change) {
      const entry = walletsOf(cluster).get(keyOf(wallet))
      if (!entry) throw misfit()
      setWallet(work, { ...entry, ...change, updatedSeq: seq })
    },
    removeWallet({ cluster, wallet }) {
      const key = keyOf(wallet)
      if (!walletsOf(cluster).has(key)) throw misfit()
      removeWallet(work, serialOf(cluster), key)
    },
    registerName({ cluster: id, name }) {
      const cluster = serialOf(id)
      // a bid names a wallet that pays, and goes to the cluster in which that is verified
      const isBidder = actor && addressOfWord(addressToWord(actor)).equals(actor)
      if (!isBidder || home !== cluster) throw misfit()
      owners.set(name, cluster)
      changes.names.push({ seq, txKey: null, name, cluster, outcome: 'won' })
    },
    transferName({ name, cluster: to, from }) {
      const cluster = serialOf(to)
      if (owners.get(name) !== serialOf(from)) throw misfit()
      owners.set(name, cluster)
      changes.nameMoves.push({ name, cluster, updatedSeq: seq })
    },
    registerCommunityName({ community, name, wallet: address, cluster }) {
      // a wallet took part if it acted itself, or a wallet verified in the same cluster did
      const isVerified = isSame(actor, address) || home === (cluster && serialOf(cluster))
      setCommunityName(work, {
        community,
        name,
        address,
        isVerified,
        assigned: null,
        claim: null,
        seq,
      })
    },
  }
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
    const effects = encodeBidEffects({
      outcome: 'won',
      cluster: last.cluster,
      created: false,
      published: null,
    })
    return { kind: 'bid', body: Buffer.concat(words), effects }
  }
  const effects = encodeChangeEffects({ cluster: last.cluster ?? 0, events })
  return { kind: 'move_names', body: Buffer.alloc(0), effects }
}
