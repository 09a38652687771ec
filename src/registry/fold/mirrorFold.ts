import { encodeBidEffects, encodeChangeEffects } from '../journal/effects.js'
import { clusterOfEvent, clustersOfEvent, toStoredEvent } from '../journal/eventForms.js'
import {
  EVENTS,
  type MirrorState,
  type PublicEvent,
  type PublicWallet,
} from '../journal/eventTypes.js'
import { MAX_CLUSTER_WALLETS_OF_ANY_RULESET, RULESET_VERSION } from '../journal/ruleset.js'
import { addressOfWord, addressToWord, STORED_ZERO_ADDRESS } from '../primitives/address.js'
import { bigIntToWord, fromHex, mapKey } from '../primitives/bytes.js'
import { nameToWord } from '../primitives/name.js'
import type { LeafEvent } from '../transparencyLog/leafReader.js'
import { setCommunityName } from './community.js'
import { rowKeysOfEntries } from './index.js'
import {
  communityNameKey,
  type JournalRow,
  type LoadedRegistryRows,
  type RegistryRowKeys,
  type RowChanges,
} from './rows.js'
import {
  beginFold,
  type FoldState,
  finishFold,
  removeWallet,
  requireLoadedCluster,
  setWallet,
} from './work.js'

/**
 * The fold of a mirror makes the registry's tables from the event feed of another service. The tables equal those of
 * that service without its private data. The feed has no bids, payments and signed changes. So a mirror's entries have
 * the body of a bid with zeros as its transaction hash, or an empty body. A mirror's tables can not be folded again
 * from its journal.
 */

/** Maximum number of events per entry. A malicious feed could list any number of wallets with one actor and time. */
const MAX_EVENTS_PER_ENTRY = 2_048

/**
 * Groups events into entries. Consecutive wallets that one actor added at one time are one entry, with the creation of
 * their cluster if it comes right before. They get the same `createdSeq`. Lists order wallets by `createdSeq`, then by
 * address.
 */
export function groupEventsIntoEntries(events: readonly LeafEvent[]): LeafEvent[][] {
  const entries: LeafEvent[][] = []
  for (const event of events) {
    const open = entries.at(-1)
    if (open && open.length < MAX_EVENTS_PER_ENTRY && isOfSameEntry(open.at(-1)!, event))
      open.push(event)
    else entries.push([event])
  }
  return entries
}

const isOfSameEntry = (last: LeafEvent, { event, actor, atMs }: LeafEvent): boolean =>
  event.type === 'ADD_WALLET' &&
  (last.event.type === 'ADD_WALLET' || last.event.type === 'CREATE_CLUSTER') &&
  atMs === last.atMs &&
  isSameAddress(actor, last.actor)

const isSameAddress = (a: Buffer | null, b: Buffer | null): boolean =>
  a && b ? a.equals(b) : a === b

/** Keys of the rows that the entries of a mirror read. */
export function rowKeysOfMirrorEntries(entries: readonly LeafEvent[][]): RegistryRowKeys {
  const keys = rowKeysOfEntries([])
  const made = new Set<string>()
  for (const { event, actor } of entries.flat()) {
    if (event.type === 'CREATE_CLUSTER') made.add(event.cluster)
    const before = clustersOfEvent(event).filter((id) => !made.has(id))
    for (const id of before) keys.clusterIds.add(mapKey(fromHex(id)))
    if (event.type === 'TRANSFER_NAME') keys.names.add(event.name)
    if (event.type === 'REGISTER_COMMUNITY_NAME')
      keys.communityNames.add(communityNameKey(event.community, event.name))
    // Registrations depend on the actor's cluster. For a name, only unless an earlier event of the batch created it.
    const needsActor = event.type === 'REGISTER_NAME' ? before.length > 0 : 'community' in event
    if (needsActor && actor) keys.wallets.add(mapKey(actor))
  }
  return keys
}

/**
 * Folds entries, in order.
 * @throws RangeError for an event that does not fit the state, or is older than the event before it
 */
export function foldMirrorEntries(
  before: LoadedRegistryRows,
  entries: readonly LeafEvent[][],
): RowChanges {
  const work = beginFold(before, [])
  work.clusters ??= new Map()
  const state = new MirrorFoldState(work)
  const { head, journal } = work.changes
  for (const entry of entries) {
    const { actor, atMs, number } = entry[0]!
    if (atMs < head.atMs) throw new RangeError(`event ${number} is older than the one before it`)
    head.seq += 1
    head.atMs = atMs
    const events = entry.map((one) => state.apply(one))
    const { kind, body, effects } = entryContentOf(events, actor)
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
  return finishFold(work, before)
}

/** A mirror's registry state, to which events are applied in order. */
class MirrorFoldState implements MirrorState {
  readonly #work: FoldState
  #event!: LeafEvent

  constructor(work: FoldState) {
    this.#work = work
  }

  /**
   * Applies an event. @returns the event as the journal stores it @throws RangeError where it does not fit the state
   */
  apply(read: LeafEvent): PublicEvent {
    this.#event = read
    const { event } = read
    EVENTS[event.type].apply(this, event as never)
    const cluster = clusterOfEvent(event)
    const wallet =
      'wallet' in event && cluster !== null
        ? this.#walletsOf(cluster).get(mapKey(event.wallet))
        : undefined
    return toStoredEvent(event, (id) => this.#serialOf(id), wallet)
  }

  createCluster({ cluster }: EventArgument<'createCluster'>) {
    const { changes, clusterSerials, clusters } = this.#work
    const id = fromHex(cluster)
    const serial = ++changes.head.serial
    changes.clusters.push({ serial, id, createdSeq: changes.head.seq })
    clusterSerials.set(mapKey(id), serial)
    clusters!.set(serial, { wallets: new Map(), names: [] })
  }

  addWallet({
    cluster,
    wallet: address,
    name,
    isVerified,
    isBackedUp,
  }: EventArgument<'addWallet'>) {
    const wallets = this.#walletsOf(cluster)
    if (wallets.has(mapKey(address)) || wallets.size >= MAX_CLUSTER_WALLETS_OF_ANY_RULESET)
      throw this.#misfitError()
    const { seq } = this.#work.changes.head
    setWallet(this.#work, {
      cluster: this.#serialOf(cluster),
      address,
      name,
      isVerified,
      isPrivate: false,
      isBackedUp,
      createdSeq: seq,
      updatedSeq: seq,
      evidenceSeq: null,
    })
  }

  changeWallet({ cluster, wallet }: EventArgument<'changeWallet'>, change: Partial<PublicWallet>) {
    const walletRow = this.#walletsOf(cluster).get(mapKey(wallet))
    if (!walletRow) throw this.#misfitError()
    setWallet(this.#work, { ...walletRow, ...change, updatedSeq: this.#work.changes.head.seq })
  }

  removeWallet({ cluster, wallet }: EventArgument<'removeWallet'>) {
    const key = mapKey(wallet)
    if (!this.#walletsOf(cluster).has(key)) throw this.#misfitError()
    removeWallet(this.#work, this.#serialOf(cluster), key)
  }

  registerName({ cluster: id, name }: EventArgument<'registerName'>) {
    const { changes, owners } = this.#work
    const { actor } = this.#event
    const cluster = this.#serialOf(id)
    // a bidder has an address of a type that can pay, and is verified in the cluster that gets the name
    const isBidder = actor && addressOfWord(addressToWord(actor)).equals(actor)
    if (!isBidder || this.#actorCluster !== cluster) throw this.#misfitError()
    owners.set(name, cluster)
    changes.names.push({ seq: changes.head.seq, txKey: null, name, cluster, outcome: 'won' })
  }

  transferName({ name, cluster: to, from }: EventArgument<'transferName'>) {
    const { changes, owners } = this.#work
    const cluster = this.#serialOf(to)
    if (owners.get(name) !== this.#serialOf(from)) throw this.#misfitError()
    owners.set(name, cluster)
    changes.nameMoves.push({ name, cluster, updatedSeq: changes.head.seq })
  }

  registerCommunityName({
    community,
    name,
    wallet,
    cluster,
  }: EventArgument<'registerCommunityName'>) {
    // true if the actor is verified in the owner's cluster
    const isOfActorCluster = this.#actorCluster === (cluster && this.#serialOf(cluster))
    setCommunityName(this.#work, {
      community,
      name,
      address: wallet,
      isVerified: isSameAddress(this.#event.actor, wallet) || isOfActorCluster,
      assigned: null,
      claim: null,
      seq: this.#work.changes.head.seq,
    })
  }

  /** Cluster in which the actor is verified. */
  get #actorCluster(): number | undefined {
    const { actor } = this.#event
    return actor ? this.#work.verified.get(mapKey(actor))?.cluster : undefined
  }

  #walletsOf(cluster: string) {
    return requireLoadedCluster(this.#work, this.#serialOf(cluster)).wallets
  }

  #serialOf(id: string): number {
    const serial = this.#work.clusterSerials.get(mapKey(fromHex(id)))
    if (serial === undefined) throw this.#misfitError()
    return serial
  }

  #misfitError(): RangeError {
    const { number, event } = this.#event
    return new RangeError(`event ${number} (${event.type}) fits no state of the feed before it`)
  }
}

type EventArgument<Method extends keyof MirrorState> = Parameters<MirrorState[Method]>[0]

/**
 * Journal content of a mirrored entry. If its last event is REGISTER_NAME, the entry becomes the `bid` that won the
 * name. Any other entry becomes `mirrored`, with an empty body and its events as effects. Journals of earlier builds
 * have `move_names` in place of `mirrored`.
 */
function entryContentOf(
  events: readonly PublicEvent[],
  actor: Buffer | null,
): Pick<JournalRow, 'kind' | 'body' | 'effects'> {
  const last = events.at(-1)!
  if (last.type === 'REGISTER_NAME') {
    const words = [
      Buffer.alloc(32),
      addressToWord(actor ?? STORED_ZERO_ADDRESS),
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
  const effects = encodeChangeEffects({ cluster: clusterOfEvent(last) ?? 0, events })
  return { kind: 'mirrored', body: Buffer.alloc(0), effects }
}
