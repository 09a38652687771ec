import type { ErrorCode } from './errors.js'

/**
 * Data that the routes' sample requests refer to. Tests of the most expensive requests use the largest data that
 * callers can create, on the testnet.
 */
export interface SampleData {
  /** Name of a cluster of 1,000 wallets that holds 1,001 names. */
  name: string
  walletName: string
  /** All names of the cluster that holds `name`. */
  held: readonly string[]
  /** A wallet verified in the cluster that holds `name`. */
  owner: string
  clusterId: string
  /** A community whose rules list 1,000 addresses. */
  community: string
  /** Wallet of another cluster than `clusterId`. Sample requests with `as: 'other'` carry the key of this wallet. */
  other: string
  /** Call with which an ENS client looks up the wallet `other`. */
  ensCall(): string
  /** A free name, another one at each call. */
  freshName(): string
  /** Random addresses. Addresses of Cosmos are the most expensive to parse. */
  evmAddress(): string
  solanaAddress(): string
  cosmosAddress(): string
  /** A proof with today's date that does not verify. */
  wrongProof(): object
}

/** A request to a route. Path parameters default to values of `SampleData`. */
interface SampleRequest {
  query?:
    | Readonly<Record<string, string>>
    | ((data: SampleData) => Readonly<Record<string, string>>)
  params?: (data: SampleData) => Readonly<Record<string, string>>
  body?: (data: SampleData) => unknown
}

/** The most expensive request of a route that a caller can send. Its query also has `testnet=true`. */
export interface CostliestRequest extends SampleRequest {
  /** Why the request is expensive, such as the number of its names. */
  what?: string
  /** Wallet of `SampleData` whose key the request carries. Undefined for a request without a key. */
  as?: 'owner' | 'other'
}

/** A request that a route refuses. It carries the same key as the route's most expensive request. */
export interface RefusedRequest extends SampleRequest {
  /** The reason for which the route refuses the request. */
  what: string
  error: ErrorCode
  /** The request carries no key. */
  as?: 'nobody'
}

/** Refused request of a route that refuses nothing but a missing key. */
export const REQUEST_WITHOUT_KEY: RefusedRequest = {
  what: 'no key',
  as: 'nobody',
  error: 'unauthorized',
}

export const makeSampleList = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** Body that adds 100 wallets, the maximum of one change. */
export const addMaxWalletsBody = ({ evmAddress, freshName }: SampleData) =>
  makeSampleList(100, () => ({ address: evmAddress(), name: freshName() }))

/** Rules with 1,000 addresses, the most that a community may list. */
export const longestCommunityRules = ({ solanaAddress }: SampleData) => ({
  requirements: [{ kind: 'allowlist', addresses: makeSampleList(1_000, solanaAddress) }],
})

/** Body with 1,000 addresses, the maximum of a bulk look-up. */
export const addressesOfLargestLookup = ({ cosmosAddress }: SampleData) =>
  makeSampleList(1_000, cosmosAddress)

export type PickSampleAddress = (data: SampleData) => string

/** Body of a quote for `count` names. */
export const sampleQuoteBody =
  (network: string, sender: PickSampleAddress, count: number) => (data: SampleData) => ({
    network,
    sender: sender(data),
    names: makeSampleList(count, () => ({ name: data.freshName() })),
  })
