import type { FeedEvent } from '../../src/client/types.js'
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

/** Public state, rebuilt from events alone. @throws Error for an event that fits no state of those before it */
export function mirrorOf(events: readonly FeedEvent[]): Mirror {
  const mirror: Mirror = { clusters: new Map(), names: new Map(), communityNames: new Map() }
  for (const event of events) {
    if (!apply(mirror, event))
      throw new Error(`event ${JSON.stringify(event)} fits no state of those before it`)
  }
  return mirror
}

/** @returns false for an event that does not fit */
function apply(mirror: Mirror, event: FeedEvent): boolean {
  const { clusters, names, communityNames } = mirror
  const { from, timestamp: createdMs } = event
  const changed = { updatedMs: createdMs, updatedBy: from }
  const touch = (
    data: { address: string; cluster_id: string },
    changes: Partial<MirrorWallet>,
  ): boolean => {
    const { wallets } = clusters.get(data.cluster_id)!
    const wallet = wallets.get(data.address)
    if (wallet) wallets.set(data.address, { ...wallet, ...changes, ...changed })
    return wallet !== undefined
  }
  switch (event.type) {
    case 'CREATE_CLUSTER':
      clusters.set(event.data.cluster_id, { createdBy: from, createdMs, wallets: new Map() })
      return true
    case 'ADD_WALLET': {
      const {
        name,
        address,
        cluster_id,
        is_verified: isVerified,
        is_backed_up: isBackedUp,
      } = event.data
      const { wallets } = clusters.get(cluster_id)!
      const isNew = !wallets.has(address)
      wallets.set(address, { name, isVerified, isBackedUp, createdMs, ...changed })
      return isNew
    }
    case 'UPDATE_WALLET_NAME':
      return touch(event.data, { name: event.data.name })
    case 'VERIFY_WALLET':
      return touch(event.data, { isVerified: true })
    case 'BACKUP_WALLET':
      return touch(event.data, { isBackedUp: true })
    case 'REMOVE_WALLET':
      return clusters.get(event.data.cluster_id)!.wallets.delete(event.data.address)
    case 'REGISTER_NAME': {
      const { name, cluster_id: cluster, wei_amount: wei } = event.data
      names.set(name, { cluster, wei, createdMs, ...changed })
      return true
    }
    case 'TRANSFER_NAME': {
      const { name, to: cluster, from_cluster_id: source } = event.data
      const held = names.get(name)
      if (held) names.set(name, { ...held, cluster, ...changed })
      return held?.cluster === source
    }
    case 'REGISTER_COMMUNITY_NAME': {
      const { community, name, address, cluster_id: home } = event.data
      const pair = `${community}/${name}`
      const isNew = !communityNames.has(pair)
      // a wallet took part if it acted itself, or a wallet verified in the same cluster did
      const isVerified = from === address || (home !== null && homeOf(mirror, from) === home)
      communityNames.set(pair, { address, isVerified, createdMs, createdBy: from })
      return isNew && home === homeOf(mirror, address)
    }
    default:
      event satisfies never
      return false
  }
}

interface OldEvent {
  eventType: string
  clusterId: number
  address: string
  data: { name: string; isVerified: number }
}

/** Wallets by cluster, and who registered each name: what both versions of the feed tell. */
interface Told {
  clusters: string[]
  registered: Map<unknown, string>
}

/** Clusters as texts in any order, without their ids, which differ between the versions. */
const toldOf = (
  clusters: Iterable<Map<string, { name: unknown; isVerified: unknown }>>,
): string[] =>
  [...clusters]
    .filter((wallets) => wallets.size > 0)
    .map((wallets) =>
      JSON.stringify([...wallets].map(([of, at]) => [of, at.name, Boolean(at.isVerified)]).sort()),
    )
    .sort()

/** What the feed of v1 tells. */
export const toldByV1 = (events: readonly FeedEvent[], { clusters }: Mirror): Told => ({
  clusters: toldOf([...clusters.values()].map(({ wallets }) => wallets)),
  registered: new Map(
    events.flatMap(({ type, data, from }) => (type === 'REGISTER_NAME' ? [[data.name, from]] : [])),
  ),
})

/** What the feed of v0.1 tells. */
export async function toldByV01(world: ApiWorld): Promise<Told> {
  const clusters = new Map<number, Map<string, OldEvent['data']>>()
  const registered: Told['registered'] = new Map()
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
  return { clusters: toldOf(clusters.values()), registered }
}
