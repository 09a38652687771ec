import { NOBODY, parseAddress, parseWallet } from '../primitives/address.js'
import { parseName } from '../primitives/name.js'
import { NETWORK_LETTER, type Network } from '../primitives/network.js'
import { eventWriter, type FeedItem, type PublicEvent } from './events.js'
import { createFeedHash } from './feedHash.js'

/** Event of another service's feed. What `GET /v1/events` does not show of it (a wallet's name, once known) is blank. */
export interface FeedLine extends Pick<FeedItem, 'number' | 'actor' | 'atMs'> {
  generation: number
  /** Its clusters are places in `ids`. */
  event: PublicEvent
  /** Public ids of its clusters, hex. */
  ids: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

const EVENT_ID = /^([mt])-([1-9]\d{0,8})-([1-9]\d{0,14})$/
const CLUSTER_ID = /^0x[0-9a-f]{64}$/

/**
 * Creates a reader of the lines of a network's feed. A line has to be what this service would write: the feed of who
 * takes it in is the same, byte for byte.
 */
export function createFeedReader(network: Network) {
  const hash = createFeedHash()
  let ids: string[] = []
  let [generation, write] = [0, eventWriter(network, 0, (at) => ids[at]!)]
  let [lastFrom, actor]: [unknown, Buffer | null] = [null, null]
  return {
    /** @throws RangeError for another text */
    read(line: string): FeedLine {
      const json = parsed(line)
      const { id, type, from, data, timestamp } = json
      const [, letter, own, number] = EVENT_ID.exec(String(id)) ?? []
      if (letter !== NETWORK_LETTER[network] || !Number.isSafeInteger(timestamp)) throw new RangeError(NO_EVENT)
      if (generation !== Number(own)) write = eventWriter(network, Number(own), (at) => ids[at]!)
      generation = Number(own)
      if (from !== lastFrom) actor = actorOf(String(from))
      lastFrom = from
      const fields = Object(data) as Fields
      const event = eventOf(type, fields)
      ids = idsOf(fields)
      const read = { number: Number(number), actor, atMs: Number(timestamp), generation, event, ids }
      if (write({ ...read, place: 0, count: 1 }) !== line || read.atMs < 0) throw new RangeError(NO_EVENT)
      hash.add(json)
      return read
    },
    /** Hash over the events so far. */
    hash: hash.value,
  }
}

/** @throws RangeError for another text than an id */
function idsOf({ cluster_id, to, from_cluster_id }: Fields): string[] {
  const ids = to === undefined ? [cluster_id] : [to, from_cluster_id]
  if (cluster_id === null) return []
  if (!ids.every((id) => typeof id === 'string' && CLUSTER_ID.test(id))) throw new RangeError(NO_EVENT)
  return ids as string[]
}

const NO_EVENT = 'this is no event of the feed'

function parsed(line: string): Fields {
  try {
    return Object(JSON.parse(line))
  } catch {
    throw new RangeError(NO_EVENT)
  }
}

function eventOf(type: unknown, data: Fields): PublicEvent {
  const cluster = 0
  switch (type) {
    case 'CREATE_CLUSTER':
      return { type, cluster }
    case 'ADD_WALLET':
      return { type, cluster, ...named(data), isVerified: data.is_verified === true, isBackedUp: !!data.is_backed_up }
    case 'REGISTER_NAME':
      return { type, cluster, name: nameOf(data.name), amountWei: amountOf(data.wei_amount) }
    case 'UPDATE_WALLET_NAME':
      return { type, cluster, ...named(data), isVerified: false }
    case 'VERIFY_WALLET':
      return { type, cluster, name: '', wallet: walletOf(data.address), isVerified: true }
    case 'REMOVE_WALLET':
    case 'BACKUP_WALLET':
      return { type, cluster, wallet: walletOf(data.address) }
    case 'TRANSFER_NAME':
      return { type, cluster, from: 1, name: nameOf(data.name) }
    case 'REGISTER_COMMUNITY_NAME': {
      const community = nameOf(data.community)
      return { type, cluster: data.cluster_id === null ? null : cluster, community, ...named(data) }
    }
    default:
      throw new RangeError(NO_EVENT)
  }
}

const named = ({ name, address }: Fields) => ({ name: nameOf(name), wallet: walletOf(address) })

function nameOf(text: unknown): string {
  if (parseName(String(text)) !== text) throw new RangeError(`${text} is no name`)
  return text as string
}

function walletOf(text: unknown): Buffer {
  const wallet = parseWallet(String(text))
  if (typeof wallet === 'string') throw new RangeError(`${text} is no address`)
  return wallet.bytes
}

/** Null for the zero address, as which an actor is shown that nobody may know. */
function actorOf(text: string): Buffer | null {
  const actor = parseAddress(text)
  if (typeof actor === 'string') throw new RangeError(`${text} is no address`)
  return actor.bytes.equals(NOBODY) ? null : actor.bytes
}

function amountOf(text: unknown): bigint {
  if (!/^\d{1,78}$/.test(String(text))) throw new RangeError(NO_EVENT)
  return BigInt(text as string)
}
