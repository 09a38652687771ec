import type { ApiWorld } from './support.js'

/** Public event as /v1/events answers it. */
export interface FeedEvent {
  id: string
  type: string
  from: string
  data: Record<string, unknown>
  isTestnet: boolean
  timestamp: number
}

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
  name: unknown
  isVerified: unknown
  isPrivate: false
  isBackedUp: unknown
  createdAt: string
  updatedAt: string
  updatedBy: string
}

export interface Mirror {
  clusters: Map<string, { createdBy: string; createdAt: string; wallets: Map<string, MirrorWallet> }>
  /** Names, oldest registration first. */
  names: Map<string, { cluster: string; wei: unknown; createdMs: number; updatedMs: number; updatedBy: string }>
  /** Names below communities by `community/name`, oldest first. */
  communityNames: Map<string, { address: string; isVerified: boolean; createdMs: number; createdBy: string }>
}

export const seconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')}+00`

/** Public state, rebuilt from events alone. */
export function mirrorOf(events: readonly FeedEvent[]): Mirror {
  const mirror: Mirror = { clusters: new Map(), names: new Map(), communityNames: new Map() }
  for (const { type, from, data, timestamp } of events) {
    const { address, name, cluster_id: id } = data as Record<string, string>
    const at = seconds(timestamp)
    const wallets = mirror.clusters.get(id!)?.wallets ?? new Map<string, MirrorWallet>()
    const touch = (changes: Partial<MirrorWallet>): void => {
      const wallet = wallets.get(address!)
      if (!wallet) throw new Error(`${type} of an entry that is not there: ${address}`)
      wallets.set(address!, { ...wallet, ...changes, updatedAt: at, updatedBy: from })
    }
    switch (type) {
      case 'CREATE_CLUSTER':
        mirror.clusters.set(id!, { createdBy: from, createdAt: at, wallets: new Map() })
        break
      case 'ADD_WALLET': {
        if (wallets.has(address!)) throw new Error(`${address} is added twice`)
        const flags = { isVerified: data.is_verified, isPrivate: false as const, isBackedUp: data.is_backed_up }
        wallets.set(address!, { name, ...flags, createdAt: at, updatedAt: at, updatedBy: from })
        break
      }
      case 'UPDATE_WALLET_NAME':
        touch({ name })
        break
      case 'VERIFY_WALLET':
        touch({ isVerified: true })
        break
      case 'BACKUP_WALLET':
        touch({ isBackedUp: true })
        break
      case 'REMOVE_WALLET':
        if (!wallets.delete(address!)) throw new Error(`${address} is removed and was not there`)
        break
      case 'REGISTER_NAME': {
        const times = { createdMs: timestamp, updatedMs: timestamp, updatedBy: from }
        mirror.names.set(name!, { cluster: id!, wei: data.wei_amount, ...times })
        break
      }
      case 'TRANSFER_NAME': {
        const held = mirror.names.get(name!)
        if (!held || held.cluster !== data.from_cluster_id)
          throw new Error(`${name} comes from a cluster that did not hold it`)
        mirror.names.set(name!, { ...held, cluster: data.to as string, updatedMs: timestamp, updatedBy: from })
        break
      }
      case 'REGISTER_COMMUNITY_NAME': {
        const pair = `${data.community}/${name}`
        if (mirror.communityNames.has(pair)) throw new Error(`${pair} is registered twice`)
        // a wallet took part if it acted itself, or a wallet verified in the same cluster did
        const isVerified = from === address || wallets.get(from)?.isVerified === true
        mirror.communityNames.set(pair, { address: address!, isVerified, createdMs: timestamp, createdBy: from })
        break
      }
      default:
        throw new Error(`${type} is an unknown event type`)
    }
  }
  return mirror
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
const toldOf = (clusters: Iterable<Map<string, { name: unknown; isVerified: unknown }>>): string[] =>
  [...clusters]
    .filter((wallets) => wallets.size > 0)
    .map((wallets) => JSON.stringify([...wallets].map(([of, at]) => [of, at.name, Boolean(at.isVerified)]).sort()))
    .sort()

/** What the feed of v1 tells. */
export const toldByV1 = (events: readonly FeedEvent[], { clusters }: Mirror): Told => ({
  clusters: toldOf([...clusters.values()].map(({ wallets }) => wallets)),
  registered: new Map(events.filter(({ type }) => type === 'REGISTER_NAME').map(({ data, from }) => [data.name, from])),
})

/** What the feed of v0.1 tells. */
export async function toldByV01(world: ApiWorld): Promise<Told> {
  const clusters = new Map<number, Map<string, OldEvent['data']>>()
  const registered: Told['registered'] = new Map()
  for (const { eventType, clusterId, address, data } of await pagesOf<OldEvent>(world, '/v0.1/events')) {
    const wallets = clusters.get(clusterId) ?? new Map<string, OldEvent['data']>()
    clusters.set(clusterId, wallets)
    if (eventType === 'updateWallet') wallets.set(address, data)
    else if (eventType === 'removeWallet') wallets.delete(address)
    else registered.set(data.name, address)
  }
  return { clusters: toldOf(clusters.values()), registered }
}
