import { createHash } from 'node:crypto'

/**
 * Who registers what in a generated registry: pure functions of a cluster's number, so that rows and questions about
 * them are made from the same numbers, and nothing is remembered. The n-th cluster (from 0) gets serial n + 1.
 */

/** What one cluster holds. */
export interface Shape {
  /** Names won by its first wallet. */
  names: number
  /** Wallets beside the first. */
  others: number
  /** Names registered below its first name by strangers; null where that is no community. */
  below: number | null
}

/** Clusters of the greatest size that the rules allow, by their numbers. */
const FULL = [2, 3, 4]
const FULL_OTHERS = 999
/** The owner of a hundredth of all names, and the community with a thousandth of them below it. */
const GREAT_OWNER = 1
const GREAT_COMMUNITY = 5
const COMMUNITY_EVERY = 1_000

/** @param total names of the whole registry, of which the greatest owner and community have a share */
export function shapeOf(cluster: number, total: number): Shape {
  const usualBelow = cluster % COMMUNITY_EVERY === 999 ? 5 : null
  const usualNames = cluster % 12 === 0 ? 2 : 1
  const below = cluster === GREAT_COMMUNITY ? Math.floor(total / 1_000) : usualBelow
  return {
    names: cluster === GREAT_OWNER ? Math.floor(total / 100) : usualNames,
    others: FULL.includes(cluster) ? FULL_OTHERS : cluster % 5,
    below,
  }
}

/** Bytes in no order, others for each purpose. */
const bytesOf = (...key: readonly (string | number)[]): Buffer =>
  createHash('sha256').update(key.join()).digest()
const evmOf = (...key: readonly (string | number)[]): Buffer =>
  Buffer.concat([Buffer.of(1), bytesOf(...key)], 21)

/** The k-th name of a cluster, from 0: canonical, unique, in no order. */
export const nameOf = (cluster: number, k = 0): string =>
  `${bytesOf('name', cluster).toString('hex', 0, 8)}_${k}`

/** The j-th wallet of a cluster as it is stored; the first owns its names. */
export const walletOf = (cluster: number, j = 0): Buffer => evmOf('wallet', cluster, j)

/** The wallet, in no cluster, that registers the i-th name below a community. */
export const strangerOf = (cluster: number, i: number): Buffer => evmOf('stranger', cluster, i)

/** Hash of the transaction of a cluster's n-th bid. */
export const txOf = (cluster: number, n: number): Buffer => bytesOf('tx', cluster, n)

export const isPrivate = (j: number): boolean => j % 8 === 3
export const isVerified = (j: number): boolean => j % 4 === 0
