import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JobState } from '../registry/outbox.js'
import { lostNonces, missingSince } from './gaps.js'

const holder = (nonce: number | null, state: JobState = 'sent') => ({ nonce, state })

describe('lost nonces', () => {
  it('lie from the chain’s count up to the next one, and nothing under way holds them', () => {
    expect(lostNonces(3, 8, [holder(4), holder(6, 'included')])).toEqual([3, 5, 7])
    expect(lostNonces(3, 3, [])).toEqual([])
    expect(lostNonces(5, 3, [])).toEqual([])
  })

  it('are those of confirmed transactions too: the chain has lost them', () => {
    expect(lostNonces(3, 5, [holder(3, 'confirmed'), holder(4, 'parked')])).toEqual([3])
  })

  it('and held ones are all there are', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.nat(20), fc.uniqueArray(fc.nat(40)), (used, more, held) => {
        const next = used + more
        const lost = lostNonces(
          used,
          next,
          held.map((nonce) => holder(nonce)),
        )
        for (let nonce = used; nonce < next; nonce++) expect(lost.includes(nonce)).toBe(!held.includes(nonce))
        expect(lost.every((nonce) => nonce >= used && nonce < next)).toBe(true)
      }),
    )
  })
})

describe('a gap', () => {
  it('is as old as its first nonce', () => {
    const first = missingSince(null, [4, 5], 100)
    expect(first).toEqual({ first: 4, sinceMs: 100 })
    expect(missingSince(first, [4], 200)).toBe(first)
    expect(missingSince(first, [5], 300)).toEqual({ first: 5, sinceMs: 300 })
    expect(missingSince(first, [], 400)).toBeNull()
  })
})
