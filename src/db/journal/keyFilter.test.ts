import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Head } from '../../registry/fold/index.js'
import { createWrittenKeys } from './keyFilter.js'

const head = (seq: number, generation = 1): Head => ({
  ...{ generation, seq, publicSeq: 0, atMs: 0, serial: 0, minimumWei: 0n },
})

test('a key that was written is never taken for a new one', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary-ascii' })), (keys) => {
      const written = createWrittenKeys()
      written.covers(head(0))
      written.written(keys, head(keys.length))
      for (const key of keys) expect(written.mayHold(key)).toBe(true)
    }),
    { numRuns: 20 },
  )
})

test('nearly every new key is known to be new', () => {
  const written = createWrittenKeys()
  written.covers(head(0))
  const keys = (prefix: string) => Array.from({ length: 50_000 }, (_, n) => `${prefix}${String(n).padStart(7, '0')}`)
  written.written(keys('b'), head(1))
  expect(keys('c').filter((key) => written.mayHold(key)).length).toBeLessThan(50)
})

describe('covers a head', () => {
  test('of an empty journal, and the one its last append ended at', () => {
    const written = createWrittenKeys()
    expect(written.covers(head(0))).toBe(true)
    expect(written.covers(head(0))).toBe(true)
    written.written(['a'], head(5))
    expect(written.covers(head(5))).toBe(true)
  })

  test.each([
    ['somebody else has appended', head(6)],
    ['an append of ours was lost', head(0)],
    ['the network was rewound', head(5, 2)],
  ])('never again once %s', (_, other) => {
    const written = createWrittenKeys()
    written.covers(head(0))
    written.written(['a'], head(5))
    expect(written.covers(other)).toBe(false)
    expect(written.covers(head(5))).toBe(false)
    expect(written.mayHold('new')).toBe(true)
  })

  test('not of a journal that it has not seen from the beginning', () => {
    const written = createWrittenKeys()
    expect(written.covers(head(3))).toBe(false)
    expect(written.mayHold('new')).toBe(true)
  })
})
