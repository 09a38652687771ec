import type { Head } from '../../registry/fold/index.js'

const BITS = 2 ** 26
const PROBES = 4
const MASK = BITS - 1

/**
 * Bloom filter (8 MiB) of names and wallets written since the journal was empty, so that a first catch-up skips
 * look-ups of new keys. False positives (1 % at 3 million registrations) cost a look-up; false negatives don't occur.
 */
export interface WrittenKeys {
  /**
   * Whether the filter has every key behind this head: while the journal is empty, or stands where the last `written`
   * left it. Another writer or a lost transaction ends that for good.
   */
  covers(head: Head): boolean
  /** False for a key that is certainly unwritten. Names and stored addresses (`keyOf`) never collide. */
  mayHold(key: string): boolean
  /** Adds the keys of an append that ended at this head. */
  written(keys: Iterable<string>, head: Head): void
}

export function createWrittenKeys(): WrittenKeys {
  let bits: Uint32Array | null = null
  let at: { generation: number; seq: number } | null = null
  let isLost = false
  return {
    covers({ generation, seq }) {
      if (isLost) return false
      if (at === null && seq === 0) {
        bits = new Uint32Array(BITS / 32)
        at = { generation, seq }
      }
      if (at?.generation === generation && at.seq === seq) return true
      isLost = true
      bits = null
      return false
    },
    mayHold(key) {
      if (bits === null) return true
      const { first, step } = sumsOf(key)
      for (let i = 0; i < PROBES; i++) {
        const bit = (first + Math.imul(i, step)) & MASK
        if ((bits[bit >>> 5]! & (1 << (bit & 31))) === 0) return false
      }
      return true
    },
    written(keys, { generation, seq }) {
      if (bits === null) return
      for (const key of keys) {
        const { first, step } = sumsOf(key)
        for (let i = 0; i < PROBES; i++) {
          const bit = (first + Math.imul(i, step)) & MASK
          bits[bit >>> 5]! |= 1 << (bit & 31)
        }
      }
      at = { generation, seq }
    },
  }
}

/** The first bit of a key and the step to its next: double hashing (Kirsch, Mitzenmacher) of two FNV-like sums. */
function sumsOf(key: string): { first: number; step: number } {
  let first = 0x811c9dc5
  let second = 0x9747b28c
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i)
    first = Math.imul(first ^ code, 0x01000193)
    second = Math.imul(second ^ code, 0x85ebca6b)
    second ^= second >>> 15
  }
  return { first: first ^ (first >>> 16), step: second | 1 }
}
