import type { FeedEvent } from '../../src/client/types.js'
import { parseEventData } from '../../src/registry/journal/eventForms.js'
import {
  EVENTS,
  type MirrorState,
  type PublicWallet,
} from '../../src/registry/journal/eventTypes.js'
import { decodeWallet } from '../../src/registry/primitives/address.js'
import type { ApiWorld } from './support.js'

/** Reads the whole feed, page by page. */
export const readFeed = (world: ApiWorld): Promise<FeedEvent[]> => pagesOf(world, '/v1/events')

async function pagesOf<Item>(world: ApiWorld, path: string): Promise<Item[]> {
  const items: Item[] = []
  for (let page = ''; ; ) {
    const { body } = await world.get(`${path}?limit=50${page}`)
    items.push(...body.items)
    if (!body.nextPage) return items
    page = `&nextPage=${encodeURIComponent(body.nextPage)}`
  }
}

interface MirrorWallet {
  name: string
  isVerified: boolean
  isBackedUp: boolean
  createdMs: number
  updatedMs: number
  updatedBy: string
}

export interface Mirror {
  clusters: Map<
    string,
    { createdBy: string; createdMs: number; wallets: Map<string, MirrorWallet> }
  >
  /** Names, oldest registration first. */
  names: Map<
    string,
    { cluster: string; wei: string; createdMs: number; updatedMs: number; updatedBy: string }
  >
  /** Names below communities by `community/name`, oldest first. */
  communityNames: Map<
    string,
    { address: string; isVerified: boolean; createdMs: number; createdBy: string }
  >
}

export const seconds = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}+00`

/** The cluster in which a wallet is verified in public, null for none. */
export const homeOf = ({ clusters }: Mirror, address: string): string | null =>
  [...clusters].find(([, { wallets }]) => wallets.get(address)?.isVerified)?.[0] ?? null

/** Public state, rebuilt only from events. @throws Error for an event that does not fit the state before it */
export function mirrorOf(events: readonly FeedEvent[]): Mirror {
  const mirror: Mirror = { clusters: new Map(), names: new Map(), communityNames: new Map() }
  for (const event of events) {
    const { apply } = EVENTS[event.type]
    apply(new State(mirror, event), parseEventData(event.type, event.data) as never)
  }
  return mirror
}

type On<Method extends keyof MirrorState> = Parameters<MirrorState[Method]>[0]

/** State of the mirror before an event. */
class State implements MirrorState {
  readonly #mirror: Mirror
  readonly #event: FeedEvent
  readonly #changed: { updatedMs: number; updatedBy: string }

  constructor(mirror: Mirror, event: FeedEvent) {
    this.#mirror = mirror
    this.#event = event
    this.#changed = { updatedMs: event.timestamp, updatedBy: event.from }
  }

  createCluster({ cluster }: On<'createCluster'>): void {
    const { from, timestamp } = this.#event
    const made = { createdBy: from, createdMs: timestamp, wallets: new Map() }
    this.#mirror.clusters.set(cluster, made)
  }

  addWallet({ cluster, wallet, name, isVerified, isBackedUp }: On<'addWallet'>): void {
    const wallets = this.#walletsOf(cluster)
    const address = addressText(wallet)
    this.#expect(!wallets.has(address))
    const createdMs = this.#event.timestamp
    wallets.set(address, { name, isVerified, isBackedUp, createdMs, ...this.#changed })
  }

  changeWallet({ cluster, wallet }: On<'changeWallet'>, change: Partial<PublicWallet>): void {
    const wallets = this.#walletsOf(cluster)
    const entry = wallets.get(addressText(wallet))
    this.#expect(entry !== undefined)
    wallets.set(addressText(wallet), { ...entry!, ...change, ...this.#changed })
  }

  removeWallet({ cluster, wallet }: On<'removeWallet'>): void {
    this.#expect(this.#walletsOf(cluster).delete(addressText(wallet)))
  }

  registerName({ name, cluster, amountWei }: On<'registerName'>): void {
    const createdMs = this.#event.timestamp
    const wei = String(amountWei)
    this.#mirror.names.set(name, { cluster, wei, createdMs, ...this.#changed })
  }

  transferName({ name, cluster, from }: On<'transferName'>): void {
    const held = this.#mirror.names.get(name)
    this.#expect(held?.cluster === from)
    this.#mirror.names.set(name, { ...held!, cluster, ...this.#changed })
  }

  registerCommunityName(event: On<'registerCommunityName'>): void {
    const { communityNames } = this.#mirror
    const { from, timestamp } = this.#event
    const pair = `${event.community}/${event.name}`
    const address = addressText(event.wallet)
    this.#expect(!communityNames.has(pair) && event.cluster === homeOf(this.#mirror, address))
    // true if the actor is in the event's cluster: the wallet itself, or another wallet verified there
    const isVerified =
      from === address || (event.cluster !== null && homeOf(this.#mirror, from) === event.cluster)
    communityNames.set(pair, { address, isVerified, createdMs: timestamp, createdBy: from })
  }

  #walletsOf(cluster: string): Map<string, MirrorWallet> {
    return this.#mirror.clusters.get(cluster)!.wallets
  }

  #expect(fits: boolean): void {
    if (!fits)
      throw new Error(`event ${JSON.stringify(this.#event)} fits no state of those before it`)
  }
}

const addressText = (wallet: Buffer): string => decodeWallet(wallet).text

interface OldEvent {
  eventType: string
  clusterId: number
  address: string
  data: { name: string; isVerified: number }
}

/** Data that both versions of the feed have: wallets by cluster, and the owner of each name. */
interface FeedState {
  clusters: string[]
  registered: Map<unknown, string>
}

/** Clusters as texts in any order, without their ids, which differ between the versions. */
const feedStateOf = (
  clusters: Iterable<Map<string, { name: unknown; isVerified: unknown }>>,
): string[] =>
  [...clusters]
    .filter((wallets) => wallets.size > 0)
    .map((wallets) =>
      JSON.stringify([...wallets].map(([of, at]) => [of, at.name, Boolean(at.isVerified)]).sort()),
    )
    .sort()

/** State from the feed of v1. */
export const stateFromV1 = (events: readonly FeedEvent[], { clusters }: Mirror): FeedState => ({
  clusters: feedStateOf([...clusters.values()].map(({ wallets }) => wallets)),
  registered: new Map(
    events.flatMap(({ type, data, from }) => (type === 'REGISTER_NAME' ? [[data.name, from]] : [])),
  ),
})

/** State from the feed of v0.1. */
export async function stateFromV01(world: ApiWorld): Promise<FeedState> {
  const clusters = new Map<number, Map<string, OldEvent['data']>>()
  const registered: FeedState['registered'] = new Map()
  for (const { eventType, clusterId, address, data } of await pagesOf<OldEvent>(
    world,
    '/v0.1/events',
  )) {
    const wallets = clusters.get(clusterId) ?? new Map<string, OldEvent['data']>()
    clusters.set(clusterId, wallets)
    if (eventType === 'updateWallet') wallets.set(address, data)
    else if (eventType === 'removeWallet') wallets.delete(address)
    else registered.set(data.name, address)
  }
  return { clusters: feedStateOf(clusters.values()), registered }
}
