import type PQueue from 'p-queue'
import type pg from 'pg'
import {
  type ChainPort,
  type ClaimPermissionSigner,
  type EvmChainPort,
  isEvmChainPort,
  type PaymentReleaseSigner,
} from '../../chains/chain.js'
import { readPageTokenKey } from '../../db/deployment/deployment.js'
import type { Deadline } from '../../db/pg/pool.js'
import type { EnsGateway } from '../../ens/gateway.js'
import type { PrimaryNameReader } from '../../ens/primary.js'
import { FairQueue } from '../../ops/fairQueue.js'
import { type WaitForEventLoopTurn, waitForEventLoopTurn } from '../../ops/turns.js'
import type { CapacityLimiter } from '../../push/capacityLimiter.js'
import { ChangeNotifications } from '../../push/changeNotifications.js'
import { FeedTail } from '../../push/feedTail.js'
import { MAX_FEED_STREAMS, MAX_LONG_POLLS, placesFor } from '../../push/longRequests.js'
import { createPageQueue } from '../../push/streams.js'
import type { Network } from '../../registry/primitives/network.js'
import { cacheSignatures } from '../communities/releaseSignatures.js'
import { type ClusterIdLookup, createClusterIdCache } from '../feed/clusterIds.js'
import type { LimitSettings } from '../limits/gate.js'
import type { WaitingCaller } from '../serving/patience.js'
import { type BatchedLookups, createBatchedLookups } from './batches.js'
import { createFreshnessReader, type Freshness } from './freshness.js'

/** Dependencies of the handlers on one network. */
export interface Context {
  network: Network
  pool: pg.Pool
  /** Batched look-ups, by network. A handler may query the other network. */
  lookups: Readonly<Record<Network, BatchedLookups>>
  /** Chains of all networks and families. */
  chains: readonly ChainPort[]
  /** Current time, ms since the Unix epoch. */
  now(): number
  /** Key of page tokens, 32 bytes. */
  pageKey(): Promise<Buffer>
  /** Secret from which authentication keys are derived. */
  tokenKey: Uint8Array
  /** Deadline of a change; absent where no caller waits for it. */
  patience?: Deadline
  /** Caller of a request, for changes and long polls; absent elsewhere. */
  caller?: WaitingCaller
  /** SHA-256 of the authentication key of a request with a session, which its changes need until they are written. */
  keyHash?: Buffer
  /** Wakes long polls and streams. */
  notifications: ChangeNotifications
  /** Places of long polls that wait for a transaction of the network. */
  longPollPlaces: CapacityLimiter
  /** Waits for the newest events of each network's feed, for all streams. */
  tails: Readonly<Record<Network, FeedTail>>
  streamPlaces: CapacityLimiter
  /** Queue of streams behind the feed. */
  streamPages: PQueue
  /** Caches of cluster ids for pages of the feed. */
  clusterIds: Readonly<Record<Network, ClusterIdLookup>>
  /**
   * Queue of the network's signed changes. Each network has its own, because a change waits for the lock of its network's
   * journal, and must not take a place of other work meanwhile.
   */
  changes: FairQueue
  /** Lets other requests run between parts of long work; resolves when the caller may continue. */
  turn: WaitForEventLoopTurn
  /** Keys of wallet shares, the current key first; empty where no wallets are generated. */
  shareKeys: readonly Uint8Array[]
  /** How far each network's tables are behind the chains. */
  freshness: Readonly<Record<Network, () => Promise<Freshness>>>
  /** Signs airdrop permissions; null where only EVM accounts can claim. */
  permissionSigner: ClaimPermissionSigner | null
  /** Signs releases of payments for community names; null where only the relayer releases them. */
  releaseSigner: PaymentReleaseSigner | null
  /** Gateway of ENS; null where no ENS name is served. */
  ens: EnsGateway | null
  /** Transactions for primary names in ENS; null where no ENS name is served. */
  primaryNames: PrimaryNameReader | null
  auth: AuthSettings
  /** Rate limits of clients and wallets; null where there are none. */
  limits: LimitSettings | null
  /** Public URL of the site without a trailing slash, the base of profile and picture URLs. */
  siteUrl: string
}

/** Settings of wallet authentication. */
interface AuthSettings {
  /** Domain of the service in the messages that wallets sign (EIP-4361). */
  serviceDomain: string
  /** Lifetime of an authentication key. */
  sessionLifetimeMs: number
  /** Accepts signatures of smart wallets that are not deployed yet (ERC-6492). */
  acceptsErc6492: boolean
}

/**
 * Signed changes of a network that run at once, and that may wait. Of three changes one holds the journal's lock and
 * two send their first statements. More would only take connections from reads.
 */
const CHANGES = { atOnce: 3, waiting: 1_000 }

const SESSION_LIFETIME_MS = 14 * 24 * 60 * 60_000

export interface ContextDeps
  extends Pick<Context, 'pool' | 'chains'>,
    Partial<
      Pick<Context, 'permissionSigner' | 'releaseSigner' | 'ens' | 'primaryNames' | 'limits'>
    > {
  /** Wakes long polls and streams. Without it they poll. */
  notifications?: ChangeNotifications
  /** Receives errors of our own code, with a description of the request. */
  onOwnError?: (error: unknown, about: object) => void
  config: Pick<AuthSettings, 'serviceDomain'> &
    Partial<AuthSettings> & {
      /** Secret from which the authentication keys of sessions are derived. */
      tokenKey: Uint8Array
      /** Keys of wallet shares, the current key first. Without them no wallets are generated. */
      shareKeys?: readonly Uint8Array[]
      /** Default: http://localhost */
      siteUrl?: string
    }
}

/** Creates the contexts of both networks. The key of page tokens is read from the database at first use. */
export function createRequestContexts({
  config,
  permissionSigner = null,
  releaseSigner = null,
  ens = null,
  primaryNames = null,
  limits = null,
  notifications = new ChangeNotifications(),
  ...deps
}: ContextDeps): Readonly<Record<Network, Context>> {
  const {
    tokenKey,
    serviceDomain,
    sessionLifetimeMs = SESSION_LIFETIME_MS,
    acceptsErc6492 = false,
  } = config
  const { siteUrl = 'http://localhost' } = config
  const now = () => Date.now()
  const pageKey = once(() => readPageTokenKey(deps.pool))
  const shared = {
    ...deps,
    permissionSigner,
    releaseSigner: releaseSigner && cacheSignatures(releaseSigner),
    ens,
    primaryNames,
    limits,
    now,
    pageKey,
    turn: () => waitForEventLoopTurn(''),
    tails: ofEach((network) => {
      const onOwnError = (error: unknown) => deps.onOwnError?.(error, { network })
      return new FeedTail({ pool: deps.pool, network, notifications, onOwnError })
    }),
    notifications,
    streamPlaces: placesFor(MAX_FEED_STREAMS, limits !== null),
    streamPages: createPageQueue(),
    clusterIds: ofEach(createClusterIdCache),
    tokenKey,
    shareKeys: config.shareKeys ?? [],
    lookups: ofEach((network) => createBatchedLookups(deps.pool, network)),
    freshness: ofEach((network) => createFreshnessReader(network, deps)),
    auth: { serviceDomain, sessionLifetimeMs, acceptsErc6492 },
    siteUrl: siteUrl.replace(/\/+$/, ''),
  }
  return ofEach((network) => ({
    ...shared,
    network,
    changes: new FairQueue(CHANGES),
    longPollPlaces: placesFor(MAX_LONG_POLLS, limits !== null),
  }))
}

const ofEach = <T>(make: (network: Network) => T) => ({
  mainnet: make('mainnet'),
  testnet: make('testnet'),
})

/** Caches the result of a read. A failed read is repeated at the next use. */
function once<T>(read: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | null = null
  return () => {
    kept ??= read().catch((error: unknown) => {
      kept = null
      throw error
    })
    return kept
  }
}

/** Chains of the network, its hub first. */
export const chainsOfNetwork = ({
  chains,
  network,
}: Pick<Context, 'chains' | 'network'>): ChainPort[] =>
  chains
    .filter((chain) => chain.network === network)
    .sort((a, b) => Number(b.role === 'hub') - Number(a.role === 'hub'))

/** The network's EVM chains, its hub first. */
export const evmChainsOfNetwork = (context: Pick<Context, 'chains' | 'network'>): EvmChainPort[] =>
  chainsOfNetwork(context).filter(isEvmChainPort)
