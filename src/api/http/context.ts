import PQueue from 'p-queue'
import type pg from 'pg'
import type { ChainPort, PermissionSigner, SolanaPort } from '../../chains/chain.js'
import { readPageKey, readTokenKey } from '../../db/deployment.js'
import type { Network } from '../../registry/primitives/network.js'

/** What the answers are made from. */
export interface Context {
  pool: pg.Pool
  /** The chains of all networks. */
  chains: readonly ChainPort[]
  /** The Solana cluster of each network that has one. */
  solana: readonly SolanaPort[]
  /** Milliseconds since the epoch. */
  now(): number
  /** The key under which page tokens are sealed. */
  pageKey(): Promise<Buffer>
  /** The key from which authentication keys follow. */
  tokenKey(): Promise<Uint8Array>
  /** Signed changes wait here for their turn: they take turns at the head's lock anyway, and reads need the connections. */
  changes: PQueue
  /** The key under which shares of generated wallets are kept; undefined: none are. */
  shareKey: Uint8Array | undefined
  /** The operator's key of airdrops; null: nobody permits claims of Solana accounts. */
  permissionSigner: PermissionSigner | null
  auth: AuthSettings
  /** Where people's browsers reach the site, without a slash at the end: profiles and pictures are named under it. */
  siteUrl: string
}

/** How wallets prove themselves. */
export interface AuthSettings {
  /** Names the service in the messages that wallets sign. */
  serviceDomain: string
  /** How long an authentication key is valid. */
  sessionLifetimeMs: number
  /** Signatures of smart wallets that are not deployed yet are judged too (ERC-6492). */
  acceptsErc6492: boolean
}

/** One writes while the next one's request is on its way. */
const CHANGES_AT_ONCE = 3
const SESSION_LIFETIME_MS = 14 * 24 * 60 * 60_000

export interface ContextDeps
  extends Pick<Context, 'pool' | 'chains'>,
    Partial<Pick<Context, 'solana' | 'permissionSigner'>> {
  config: Pick<AuthSettings, 'serviceDomain'> &
    Partial<AuthSettings> & {
      /** The key from which authentication keys follow; without it the database's own. */
      tokenKey?: Uint8Array | undefined
      /** The key under which shares of generated wallets are kept; without it no wallet is generated. */
      shareKey?: Uint8Array | undefined
      /** Default: http://localhost */
      siteUrl?: string
    }
}

/** A context over a database and chains. The database's keys are read at their first use and kept. */
export function createContext({ config, solana = [], permissionSigner = null, ...deps }: ContextDeps): Context {
  const { tokenKey, serviceDomain, sessionLifetimeMs = SESSION_LIFETIME_MS, acceptsErc6492 = false } = config
  const { siteUrl = 'http://localhost' } = config
  return {
    ...deps,
    solana,
    permissionSigner,
    now: () => Date.now(),
    pageKey: once(() => readPageKey(deps.pool)),
    tokenKey: once(async () => tokenKey ?? readTokenKey(deps.pool)),
    changes: new PQueue({ concurrency: CHANGES_AT_ONCE }),
    shareKey: config.shareKey,
    auth: { serviceDomain, sessionLifetimeMs, acceptsErc6492 },
    siteUrl: siteUrl.replace(/\/+$/, ''),
  }
}

/** Keeps what was read; a failed read is tried again at the next use. */
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

/** A network's chains, its hub first. */
export const chainsOf = (context: Context, network: Network): ChainPort[] =>
  context.chains
    .filter((chain) => chain.network === network)
    .sort((a, b) => Number(b.role === 'hub') - Number(a.role === 'hub'))
