import type pg from 'pg'
import {
  type ChainPort,
  type EvmPort,
  isEvmPort,
  type PermissionSigner,
  type ReleaseSigner,
} from '../../chains/chain.js'
import { readPageKey } from '../../db/deployment/deployment.js'
import type { Deadline } from '../../db/pg/pool.js'
import type { EnsGateway } from '../../ens/gateway.js'
import type { PrimaryNames } from '../../ens/primary.js'
import { FairQueue, type QueueClient } from '../../ops/fairQueue.js'
import { nextTurn, type Turn } from '../../ops/turns.js'
import { FeedTail } from '../../push/feedTail.js'
import { News } from '../../push/news.js'
import { Streams } from '../../push/streams.js'
import { Waits } from '../../push/waits.js'
import type { Network } from '../../registry/primitives/network.js'
import { onceEach } from '../communities/releaseWords.js'
import { type ClusterIds, createClusterIds } from '../feed/clusterIds.js'
import { Questions, Statements } from '../guard/questions.js'
import type { LimitSettings } from '../limits/gate.js'
import type { Caller } from '../serving/patience.js'
import { type Batches, createBatches } from './batches.js'
import { createFreshness, type Freshness } from './freshness.js'

/** Dependencies of the handlers on one network. */
export interface Context {
  network: Network
  pool: pg.Pool
  /** Look-ups that share statements, by network: a handler may look at another one. */
  batches: Readonly<Record<Network, Batches>>
  /** Chains of all networks and families. */
  chains: readonly ChainPort[]
  /** Current time, ms since the Unix epoch. */
  now(): number
  /** Key of page tokens, 32 bytes. */
  pageKey(): Promise<Buffer>
  /** Secret from which authentication keys are derived. */
  tokenKey: Uint8Array
  /** Time that the caller of a change waits; absent where nobody does. */
  patience?: Deadline
  /** Caller, for changes and for answers that may wait; absent elsewhere. */
  caller?: Caller
  /** Requests that wait for a transaction of the network. */
  waits: Waits
  /** Readers of the feeds' ends, and the open streams. */
  tails: Readonly<Record<Network, FeedTail>>
  streams: Streams
  /** Ids of the clusters that pages of the feed name. */
  clusterIds: Readonly<Record<Network, ClusterIds>>
  /** Lines of clients that wait to ask chains. */
  questions: Questions
  /** Lines of clients that wait to ask the database. */
  statements: Statements
  /** The network's signed changes. */
  changes: FairQueue
  /** Turns of the caller's long work. */
  turn: Turn
  /** Keys of wallet shares, the one in use first; none where no wallets are generated. */
  shareKeys: readonly Uint8Array[]
  /** Lag of the tables behind the present. */
  freshness: Readonly<Record<Network, () => Promise<Freshness>>>
  /** Null where only EVM accounts can claim airdrops. */
  permissionSigner: PermissionSigner | null
  /** Null where payments for community names are released by the relayer alone. */
  releaseSigner: ReleaseSigner | null
  /** Gateway of ENS; null where no ENS name is served. */
  ens: EnsGateway | null
  /** Transactions for primary names in ENS; null where no ENS name is served. */
  primaryNames: PrimaryNames | null
  auth: AuthSettings
  /** Limits of clients and wallets; null where nobody is limited. */
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

/** One holds the journal's lock, two send their first statements: more would only take connections from the reads. */
const CHANGES = { atOnce: 3, waiting: 1_000 }
const NOBODY: QueueClient = { address: '' }

const SESSION_LIFETIME_MS = 14 * 24 * 60 * 60_000

export interface ContextDeps
  extends Pick<Context, 'pool' | 'chains'>,
    Partial<
      Pick<Context, 'permissionSigner' | 'releaseSigner' | 'ens' | 'primaryNames' | 'limits'>
    > {
  /** Wakes who waits; without it the time does. */
  news?: News
  /** Gets errors of our own code, with what was asked. */
  onOwnError?: (error: unknown, about: object) => void
  config: Pick<AuthSettings, 'serviceDomain'> &
    Partial<AuthSettings> & {
      /** Secret of authentication keys. */
      tokenKey: Uint8Array
      /** Keys of wallet shares, the one in use first; without them no wallets are generated. */
      shareKeys?: readonly Uint8Array[]
      /** Default: http://localhost */
      siteUrl?: string
    }
}

/** The database's key is read at first use. */
export function createContexts({
  config,
  permissionSigner = null,
  releaseSigner = null,
  ens = null,
  primaryNames = null,
  limits = null,
  news = new News(),
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
  const pageKey = once(() => readPageKey(deps.pool))
  const shared = {
    ...deps,
    permissionSigner,
    releaseSigner: releaseSigner && onceEach(releaseSigner),
    ens,
    primaryNames,
    limits,
    now,
    pageKey,
    questions: new Questions(),
    statements: new Statements(),
    turn: () => nextTurn(NOBODY),
    tails: ofEach((network) => {
      const onOwnError = (error: unknown) => deps.onOwnError?.(error, { network })
      return new FeedTail({ pool: deps.pool, network, news, onOwnError })
    }),
    streams: new Streams(limits !== null),
    clusterIds: ofEach(createClusterIds),
    tokenKey,
    shareKeys: config.shareKeys ?? [],
    batches: ofEach((network) => createBatches(deps.pool, network)),
    freshness: ofEach((network) => createFreshness(network, deps)),
    auth: { serviceDomain, sessionLifetimeMs, acceptsErc6492 },
    siteUrl: siteUrl.replace(/\/+$/, ''),
  }
  return ofEach((network) => {
    const waits = new Waits(network, news, shared.batches[network].progressOf, limits !== null)
    return { ...shared, network, changes: new FairQueue(CHANGES), waits }
  })
}

const ofEach = <T>(make: (network: Network) => T) => ({
  mainnet: make('mainnet'),
  testnet: make('testnet'),
})

/** A failed read is repeated at the next use. */
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
export const chainsOf = ({ chains, network }: Pick<Context, 'chains' | 'network'>): ChainPort[] =>
  chains
    .filter((chain) => chain.network === network)
    .sort((a, b) => Number(b.role === 'hub') - Number(a.role === 'hub'))

/** The EVM chains among them. */
export const evmChainsOf = (context: Pick<Context, 'chains' | 'network'>): EvmPort[] =>
  chainsOf(context).filter(isEvmPort)
