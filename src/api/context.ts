import type pg from 'pg'
import type { ChainPort } from '../chains/chain.js'
import type { PrismaClient } from '../db/prisma.js'
import { readPageKey } from '../db/read/deployment.js'
import type { Network } from '../registry/network.js'

/** What the answers are made from. */
export interface Context {
  pool: pg.Pool
  prisma: PrismaClient
  /** The chains of all networks. */
  chains: readonly ChainPort[]
  /** Milliseconds since the epoch. */
  now(): number
  /** The key under which page tokens are sealed. */
  pageKey(): Promise<Buffer>
}

/** A context over a database and chains. The page key is read at its first use and kept. */
export function createContext(deps: Pick<Context, 'pool' | 'prisma' | 'chains'>): Context {
  let key: Promise<Buffer> | null = null
  return {
    ...deps,
    now: () => Date.now(),
    pageKey() {
      key ??= readPageKey(deps.prisma).catch((error: unknown) => {
        key = null
        throw error
      })
      return key
    },
  }
}

/** A network's chains, its hub first. */
export const chainsOf = (context: Context, network: Network): ChainPort[] =>
  context.chains
    .filter((chain) => chain.network === network)
    .sort((a, b) => Number(b.role === 'hub') - Number(a.role === 'hub'))
