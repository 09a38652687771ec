/** Reproducible chance: each number depends on the seed and a key alone, never on what was drawn before or in which order. */

const FNV_OFFSET = 0x811c9dc5
const FNV_PRIME = 0x01000193

/** A number in [0, 1) for a seed and a key: FNV-1a over the text, finished as MurmurHash3 does so that all bits depend on all others. */
export function draw(seed: number, ...key: readonly (string | number)[]): number {
  let hash = FNV_OFFSET
  for (const char of `${seed}|${key.join('|')}`) hash = Math.imul(hash ^ char.codePointAt(0)!, FNV_PRIME)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

/** A sequence of numbers in [0, 1) that a seed and a key give. */
export function sequence(seed: number, ...key: readonly (string | number)[]): () => number {
  let count = 0
  return () => draw(seed, ...key, count++)
}

/** A whole number from `min` to `max`, both included. */
export const between = (random: number, min: number, max: number): number => min + Math.floor(random * (max - min + 1))

/** One of a list that is not empty. */
export const pick = <T>(random: number, list: readonly T[]): T => list[between(random, 0, list.length - 1)]!

/** The list in another order (Fisher-Yates). */
export function shuffled<T>(list: readonly T[], next: () => number): T[] {
  const result = [...list]
  for (let i = result.length - 1; i > 0; i--) {
    const other = between(next(), 0, i)
    ;[result[i], result[other]] = [result[other]!, result[i]!]
  }
  return result
}
