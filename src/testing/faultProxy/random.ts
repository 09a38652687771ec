// The random numbers of this module are reproducible: each depends only on seed and key, never on earlier draws.

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** Random number in [0, 1): FNV-1a over seed and key, finished as in MurmurHash3 so that all bits mix. */
export function seededRandomNumber(seed: number, ...key: readonly (string | number)[]): number {
  let hash = FNV_OFFSET
  for (const char of `${seed}|${key.join('|')}`)
    hash = Math.imul(hash ^ char.codePointAt(0)!, FNV_PRIME)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

/** Integer from `min` to `max`, inclusive, chosen by a random number in [0, 1). */
export const integerBetween = (random: number, min: number, max: number): number =>
  min + Math.floor(random * (max - min + 1))

/** Element of a non-empty list, chosen by a random number in [0, 1). */
export const pickElement = <T>(random: number, list: readonly T[]): T =>
  list[integerBetween(random, 0, list.length - 1)]!
