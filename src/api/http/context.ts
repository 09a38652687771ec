import type pg from 'pg'
import { type ChainPort, type EvmChainPort, isEvmChainPort } from '../../chains/chain.js'
import { readPageTokenKey } from '../../db/deployment/deployment.js'
import type { Deadline } from '../../db/pg/pool.js'
import { FairQueue } from '../../ops/fairQueue.js'
import { type WaitForEventLoopTurn, waitForEventLoopTurn } from '../../ops/turns.js'
import { PUBLIC_WALLET_FACTORIES } from '../../registry/auth/walletFactories.js'
import type { Network } from '../../registry/primitives/network.js'
import type { LimitSettings } from '../limits/gate.js'
import type { WaitingCaller } from '../serving/patience.js'
import { type BatchedLookups, createBatchedLookups } from './batches.js'
import { createFreshnessReader, type Freshness } from './freshness.js'

/** Dependencies and settings of the handlers of requests for one network. */
export interface Context {
  network: Network
  pool: pg.Pool
  /** Batched look-ups, by network. A handler may query the other network. */
  lookups: Readonly<Record<Network, BatchedLookups>>
  /** Chains of all networks and families. */
  chains: readonly ChainPort[]
  /** Readers of the networks' freshness: by how much the tables of a network lag behind its chains. */
  freshness: Readonly<Record<Network, () => Promise<Freshness>>>
  /**
   * Queue of the network's signed changes. Each network has a separate queue, because a change waits for the lock of
   * its network's journal, and must not block other work meanwhile.
   */
  changes: Readonly<Record<Network, FairQueue>>
  /** Rate limits of clients and wallets; null where there are none. */
  limits: LimitSettings | null
  auth: AuthSettings
  /** Key of page tokens, 32 bytes. */
  pageKey(): Promise<Buffer>
  /**
   * Waits for a later turn of the event loop. Long work calls this function between its parts, so that other requests
   * run.
   */
  turn: WaitForEventLoopTurn
  /** Caller of the request. Absent where a response is shared with other callers, and in deliveries. */
  caller?: WaitingCaller
  /** Deadline of a change; absent where no caller waits for it. */
  patience?: Deadline
}

/** Settings of wallet authentication. */
interface AuthSettings {
  /** Secret from which authentication keys are derived. */
  tokenKey: Uint8Array
  /** Domain of the service in the messages that wallets sign (EIP-4361). */
  serviceDomain: string
  /** Lifetime of an authentication key. */
  sessionLifetimeMs: number
  /** Factories, in lower case, that signatures of undeployed smart wallets may name (ERC-6492). */
  walletFactories: readonly string[]
}

/**
 * Maximum numbers of a network's signed changes that run at once, and that wait. Of three running changes one holds the
 * journal's lock and two send their first statements. More would only take connections from reads.
 */
const CHANGE_QUEUE_BOUNDS = { atOnce: 3, waiting: 1_000 }

const DEFAULT_SESSION_LIFETIME_MS = 14 * 24 * 60 * 60_000

export interface ContextDeps extends Pick<Context, 'pool' | 'chains'> {
  /** Rate limits of clients and wallets; null where there are none. */
  limits?: LimitSettings | null
  config: Pick<AuthSettings, 'tokenKey' | 'serviceDomain'> & Partial<AuthSettings>
}

/** Creates the contexts of both networks. The key of page tokens is read from the database at first use. */
export function createRequestContexts({
  pool,
  chains,
  limits = null,
  config,
}: ContextDeps): Readonly<Record<Network, Context>> {
  const shared = {
    pool,
    chains,
    limits,
    lookups: ofEachNetwork((network) => createBatchedLookups(pool, network)),
    freshness: ofEachNetwork((network) => createFreshnessReader(network, { pool, chains })),
    auth: {
      tokenKey: config.tokenKey,
      serviceDomain: config.serviceDomain,
      sessionLifetimeMs: config.sessionLifetimeMs ?? DEFAULT_SESSION_LIFETIME_MS,
      walletFactories: config.walletFactories ?? PUBLIC_WALLET_FACTORIES,
    },
    pageKey: readOnce(() => readPageTokenKey(pool)),
    turn: () => waitForEventLoopTurn(''),
    changes: ofEachNetwork(() => new FairQueue(CHANGE_QUEUE_BOUNDS)),
  }
  return ofEachNetwork((network) => ({ ...shared, network }))
}

const ofEachNetwork = <T>(make: (network: Network) => T): Record<Network, T> => ({
  mainnet: make('mainnet'),
  testnet: make('testnet'),
})

/** Caches the result of a read. A failed read is repeated at the next use. */
function readOnce<T>(read: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | null = null
  return () => {
    kept ??= read().catch((error: unknown) => {
      kept = null
      throw error
    })
    return kept
  }
}

/** Chains of the network. The hub comes first. */
export const chainsOfNetwork = ({
  chains,
  network,
}: Pick<Context, 'chains' | 'network'>): ChainPort[] =>
  chains
    .filter((chain) => chain.network === network)
    .sort((a, b) => Number(b.role === 'hub') - Number(a.role === 'hub'))

/** EVM chains of the network. The hub comes first. */
export const evmChainsOfNetwork = (context: Pick<Context, 'chains' | 'network'>): EvmChainPort[] =>
  chainsOfNetwork(context).filter(isEvmChainPort)
