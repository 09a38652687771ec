import type { Head } from '../../registry/fold/index.js'

const BITS = 2 ** 26
const PROBES = 4
const MASK = BITS - 1

/**
 * Which names and wallets have been written into a network's tables since its journal was empty: a Bloom filter of 8
 * MiB, so that a first catch-up need not look for keys that are certainly new. It may take a new key for an old one (at
 * 3 million registrations one in a hundred), which is then looked for as ever; never an old one for new.
 */
export interface WrittenKeys {
  /**
   * Whether it knows every key behind this head. Rows change with the journal alone, so it does when the journal is
   * empty, or stands where the last `written` left it; when anybody else has written, or a transaction of ours was
   * lost, never again.
   */
  covers(head: Head): boolean
  /** False when the key has certainly not been written. Names and stored addresses (`keyOf`) never look alike. */
  mayHold(key: string): boolean
  /** Takes in the keys of an append that ended at this head. */
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
    mayHold: (key) => bits === null || everyBit(key, (bit) => (bits![bit >>> 5]! & (1 << (bit & 31))) !== 0),
    written(keys, { generation, seq }) {
      if (bits === null) return
      for (const key of keys) {
        everyBit(key, (bit) => {
          bits![bit >>> 5]! |= 1 << (bit & 31)
          return true
        })
      }
      at = { generation, seq }
    },
  }
}

/**
 * Visits the bits of a key, by double hashing (Kirsch and Mitzenmacher) of two FNV-like sums; stops where `visit` says
 * no.
 */
function everyBit(key: string, visit: (bit: number) => boolean): boolean {
  let first = 0x811c9dc5
  let second = 0x9747b28c
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i)
    first = Math.imul(first ^ code, 0x01000193)
    second = Math.imul(second ^ code, 0x85ebca6b)
    second ^= second >>> 15
  }
  first ^= first >>> 16
  second |= 1
  for (let i = 0; i < PROBES; i++) if (!visit((first + Math.imul(i, second)) & MASK)) return false
  return true
}
