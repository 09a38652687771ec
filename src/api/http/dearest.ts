import { familyOf } from '../../registry/families.js'
import type { ErrorCode } from './errors.js'

/** The registry that declared requests ask about; for the dearest ones as large as its callers can make it, on the testnet. */
export interface Scene {
  /** Name of a cluster of 1,000 wallets that holds 1,001 names, and one of its wallets. */
  name: string
  walletName: string
  /** All names of that cluster. */
  held: readonly string[]
  /** A wallet that is verified in that cluster, and its id. */
  owner: string
  clusterId: string
  /** A community whose rules list 1,000 addresses. */
  community: string
  /** Wallet of another cluster: `as: 'other'`. */
  other: string
  /** Call with which ENS asks for that wallet. */
  ensCall(): string
  /** A free name. */
  freshName(): string
  /** Random addresses; those of Cosmos are the dearest to parse. */
  evmAddress(): string
  solanaAddress(): string
  cosmosAddress(): string
  /** A proof of a wallet's key that is of no use, with today's date. */
  wrongProof(): object
}

/** A request to a route. What is left out is the plainest: path parameters are those of the scene. */
interface Sample {
  query?: Readonly<Record<string, string>>
  params?: (scene: Scene) => Readonly<Record<string, string>>
  body?: (scene: Scene) => unknown
}

/** The request of a route that costs most, of what its caller can choose. Its query says `testnet=true`, too. */
export interface Dearest extends Sample {
  /** What makes it dear. */
  what?: string
  /** Whose key it carries: none, a wallet of the largest cluster, or another wallet. */
  as?: 'owner' | 'other'
}

/** A request that a route refuses, with the key of its dearest one. */
export interface Bad extends Sample {
  /** What is wrong. */
  what: string
  error: ErrorCode
  /** It carries no key. */
  as?: 'nobody'
}

/** Of a route that looks at nothing but the key. */
export const NO_KEY: Bad = { what: 'no key', as: 'nobody', error: 'unauthorized' }

export const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** Wallets to add, as many as a change may have. */
export const manyWallets = ({ evmAddress, freshName }: Scene) =>
  times(100, () => ({ address: evmAddress(), name: freshName() }))

/** Rules of a community that are as long as they may be. */
export const longRules = ({ solanaAddress }: Scene) => ({
  requirements: [{ kind: 'allowlist', addresses: times(1_000, solanaAddress) }],
})

/** Addresses of a bulk look-up. */
export const manyAddresses = ({ cosmosAddress }: Scene) => times(1_000, cosmosAddress)

/** A quote of so many names. */
export const manyNames = (network: string, count: number) => (scene: Scene) => ({
  network,
  sender: scene[`${familyOf(network).addressType}Address`](),
  names: times(count, () => ({ name: scene.freshName() })),
})
