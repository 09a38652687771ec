import { integerBetween, seededRandomNumber } from '../../src/testing/faultProxy/random.js'

/** A sequence of random numbers in [0, 1) for a seed and a key. */
export function seededRandomSequence(
  seed: number,
  ...key: readonly (string | number)[]
): () => number {
  let count = 0
  return () => seededRandomNumber(seed, ...key, count++)
}

/** Shuffled copy of a list (Fisher-Yates). */
export function shuffled<T>(list: readonly T[], next: () => number): T[] {
  const result = [...list]
  for (let i = result.length - 1; i > 0; i--) {
    const other = integerBetween(next(), 0, i)
    const swapped = result[i]!
    result[i] = result[other]!
    result[other] = swapped
  }
  return result
}
