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
  /** The first wallet also bids for a name that somebody has. */
  hasLost: boolean
  /** The first wallet also bids below the minimum. */
  hasRefused: boolean
}

/** Clusters of the greatest size that the rules allow, by their numbers. */
const FULL = [2, 3, 4]
const FULL_OTHERS = 999
/** The owner of a hundredth of all names, and the community with a thousandth of them below it. */
const GREAT_OWNER = 1
const GREAT_COMMUNITY = 5
const COMMUNITY_EVERY = 1_000
/** Share of clusters with so many names, and with so many further wallets; three wallets and five events a name. */
const NAMES: Odds = [
  [0.925, 1],
  [0.05, 2],
  [0.02, 3],
  [0.005, 8],
]
const OTHERS: Odds = [
  [0.25, 0],
  [0.25, 1],
  [0.23, 2],
  [0.15, 4],
  [0.1, 6],
  [0.02, 20],
]
const LOST = 0.03
const REFUSED = 0.002
const PRIVATE = 0.12
const VERIFIED = 0.25
const SOLANA = 0.15

type Odds = readonly (readonly [share: number, value: number])[]

/** Purposes of random numbers. */
const SALT = { names: 1, others: 2, lost: 3, refused: 4, private: 5, verified: 6, type: 7, whose: 8, word: 9 }
const WALLET = 0x10
const STRANGER = 0x20
const TX = 0x30

/** A whole number below 2^32 whose bits all depend on all of x (Wellons, "Prospecting for hash functions"). */
function mixed(x: number): number {
  let bits = x ^ (x >>> 16)
  bits = Math.imul(bits, 0x7feb352d)
  bits ^= bits >>> 15
  bits = Math.imul(bits, 0x846ca68b)
  return (bits ^ (bits >>> 16)) >>> 0
}

/** Cluster and item are mixed apart for each salt, so that what takes several words repeats in all or in none. */
const random32 = (cluster: number, item: number, salt: number): number =>
  mixed(mixed(cluster + Math.imul(salt, 0x9e3779b9)) ^ mixed(Math.imul(item, 0x85ebca6b) + Math.imul(salt, 0xc2b2ae35)))
const random = (cluster: number, item: number, salt: number): number => random32(cluster, item, salt) / 2 ** 32

function pick(odds: Odds, at: number): number {
  let left = at
  for (const [share, value] of odds) {
    if (left < share) return value
    left -= share
  }
  return odds.at(-1)![1]
}

/** @param total names of the whole registry, of which the greatest owner and community have a share */
export function shapeOf(cluster: number, total: number): Shape {
  const greatest = Math.floor(total / 100)
  const below =
    cluster === GREAT_COMMUNITY
      ? Math.floor(total / 1_000)
      : cluster % COMMUNITY_EVERY === COMMUNITY_EVERY - 1
        ? 1 + (random32(cluster, 0, SALT.whose) % 10)
        : null
  return {
    names: cluster === GREAT_OWNER ? greatest : pick(NAMES, random(cluster, 0, SALT.names)),
    others: FULL.includes(cluster) ? FULL_OTHERS : pick(OTHERS, random(cluster, 0, SALT.others)),
    below,
    hasLost: cluster > 0 && random(cluster, 0, SALT.lost) < LOST,
    hasRefused: random(cluster, 0, SALT.refused) < REFUSED,
  }
}

/** An earlier cluster whose first name a lost bid wanted. */
export const wantedOf = (cluster: number): number => Math.floor(random(cluster, 1, SALT.whose) * cluster)

// a hyphen ends each and is in nothing else
const WORDS = [
  '',
  'the-',
  'my-',
  'x-',
  'crypto-',
  'dao-',
  'web-',
  'anon-',
  'mr-',
  'defi-',
  'nft-',
  'sol-',
  'eth-',
  'go-',
  'a-',
  'og-',
]

/** The k-th name of a cluster, from 0: canonical, unique, in no order. */
export function nameOf(cluster: number, k = 0): string {
  // an odd factor and a shift permute the numbers of 32 bits
  const product = Math.imul(cluster + 1, 0x9e3779b1)
  const place = (product ^ (product >>> 15)) >>> 0
  const base = WORDS[random32(cluster, 0, SALT.word) % WORDS.length]! + place.toString(36)
  return k === 0 ? base : `${base}_${k}`
}

function bytesOf(cluster: number, item: number, salt: number, type: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length + 1)
  bytes[0] = type
  for (let i = 0; i < length / 4; i++) bytes.writeUInt32LE(random32(cluster, item, salt + (i << 8)), 1 + 4 * i)
  return bytes
}

/** The j-th wallet of a cluster as it is stored; the first, which owns its names, is one of EVM. */
export function walletOf(cluster: number, j = 0): Buffer {
  return j > 0 && random(cluster, j, SALT.type) < SOLANA
    ? bytesOf(cluster, j, WALLET, 2, 32)
    : bytesOf(cluster, j, WALLET, 1, 20)
}

/** The wallet, in no cluster, that registers the i-th name below a community. */
export const strangerOf = (cluster: number, i: number): Buffer => bytesOf(cluster, i, STRANGER, 1, 20)

/** Hash of the transaction of a cluster's n-th bid. */
export const txOf = (cluster: number, n: number): Buffer => bytesOf(cluster, n, TX, 0, 32).subarray(1)

export const isPrivate = (cluster: number, j: number): boolean => random(cluster, j, SALT.private) < PRIVATE
export const isVerified = (cluster: number, j: number): boolean =>
  j === 0 || random(cluster, j, SALT.verified) < VERIFIED

/** Names of wallets, which are unique within their cluster. */
export const walletNameOf = (j: number): string => (j === 0 ? 'main' : `wallet-${j}`)
