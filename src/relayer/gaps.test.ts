import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JobState } from '../registry/outbox.js'
import {
  decideNonce,
  findLostNonces,
  MAX_LOST_NONCES,
  MAX_NONCE_RAISE,
  missingNonceSince,
  type NonceCountReport,
  type NonceDecision,
} from './gaps.js'

const holder = (nonce: number, state: JobState = 'sent') => ({ id: String(nonce), nonce, state })
const stored = (next: number | null, ...held: number[]) => ({
  next,
  top: held.length > 0 ? Math.max(...held) : null,
  holders: held.map((nonce) => holder(nonce)),
})
const observed = (count: number, head = 10): NonceCountReport => ({ count, head })

describe('the next nonce', () => {
  it.each<[what: string, NonceDecision['kind'], Parameters<typeof decideNonce>]>([
    ['the chain has counted all', 'sound', [stored(7), [observed(7)], null]],
    ['what the chain has not counted is held', 'sound', [stored(7, 5, 6), [observed(5)], null]],
    ['one node counts more', 'undecided', [stored(7), [observed(60)], null]],
    [
      'one node counts more twice at one head',
      'undecided',
      [stored(7), [observed(60)], observed(60)],
    ],
    ['another node says otherwise', 'sound', [stored(7), [observed(60), observed(7)], null]],
    [
      'two nodes count far more',
      'too_far',
      [stored(7), [observed(8 + MAX_NONCE_RAISE), observed(900)], null],
    ],
    ['nothing holds the last one', 'undecided', [stored(7, 5), [observed(5)], null]],
    [
      'nothing holds one below',
      'undecided',
      [stored(7, 6), [observed(5), observed(5)], observed(5, 9)],
    ],
    ['nothing is known', 'undecided', [stored(null), [observed(5)], null]],
  ])('where %s: %s', (_, is, [nonces, observations, before]) => {
    expect(decideNonce(nonces, observations, before).kind).toBe(is)
  })

  it.each<[Parameters<typeof decideNonce>, next: number]>([
    [[stored(7), [observed(9), observed(8)], null], 8],
    [[stored(7), [observed(9, 11)], observed(8)], 8],
    [[stored(7), [observed(7 + MAX_NONCE_RAISE), observed(900)], null], 7 + MAX_NONCE_RAISE],
    [[stored(null), [observed(900), observed(901)], null], 900],
    // never below either count, nor below a held nonce
    [[stored(60), [observed(3), observed(4)], null], 4],
    [[stored(60, 3), [observed(4, 11)], observed(3)], 4],
  ])('follows two observations that agree: %j to %s', (given, next) => {
    expect(decideNonce(...given)).toEqual({ kind: 'changed', next })
  })

  it('does not follow any number of wrong answers while an honest node, or every other block, contradicts them', () => {
    const count = fc.nat(2 ** 20)
    fc.assert(
      fc.property(fc.nat(100), fc.array(count), fc.boolean(), (truth, lies, hasSecondNode) => {
        let next: number = truth
        let before: NonceCountReport | null = null
        for (const [i, lie] of lies.entries()) {
          const isLie = hasSecondNode || i % 2 === 0
          const observations = [
            observed(isLie ? lie : truth, i),
            ...(hasSecondNode ? [observed(truth, i)] : []),
          ]
          const decision = decideNonce(stored(next), observations, before)
          before = decision.kind === 'undecided' ? decision.observed : null
          if (decision.kind === 'changed') next = decision.next
          // at most the true count: a higher nonce makes a gap
          expect(next).toBeLessThanOrEqual(truth)
        }
      }),
      { numRuns: 1_000 },
    )
  })

  it('is given out only where it makes no gap, and returns to the true count', () => {
    const nonce = fc.integer({ min: 0, max: 50 })
    fc.assert(
      fc.property(nonce, nonce, (truth, next) => {
        const decision = decideNonce(stored(next), [observed(truth)], null)
        expect(decision.kind).toBe(truth === next ? 'sound' : 'undecided')
        const second = decideNonce(stored(next), [observed(truth, 11)], observed(truth))
        if (truth !== next) expect(second).toEqual({ kind: 'changed', next: truth })
      }),
    )
  })
})

describe('lost nonces', () => {
  it('lie from the chain’s count up to the next one, and no unfinished job holds them', () => {
    expect(findLostNonces(3, 8, [holder(4), holder(6, 'included')])).toEqual([3, 5, 7])
    expect(findLostNonces(3, 3, [])).toEqual([])
    expect(findLostNonces(5, 3, [])).toEqual([])
  })

  it('include nonces of confirmed transactions that the chain has lost', () => {
    expect(findLostNonces(3, 5, [holder(3, 'confirmed'), holder(4, 'parked')])).toEqual([3])
  })

  it('are limited in number, whatever is stored', () => {
    expect(findLostNonces(2, 2 ** 40, [])).toHaveLength(MAX_LOST_NONCES)
  })

  it('and held nonces are all nonces from the count to the next', () => {
    fc.assert(
      fc.property(fc.nat(20), fc.nat(20), fc.uniqueArray(fc.nat(40)), (used, more, held) => {
        const next = used + more
        const lost = findLostNonces(
          used,
          next,
          held.map((nonce) => holder(nonce)),
        )
        for (let nonce = used; nonce < next; nonce++)
          expect(lost.includes(nonce)).toBe(!held.includes(nonce))
        expect(lost.every((nonce) => nonce >= used && nonce < next)).toBe(true)
      }),
    )
  })
})

describe('a gap', () => {
  it('is as old as its first nonce', () => {
    const first = missingNonceSince(null, [4, 5], 100)
    expect(first).toEqual({ first: 4, sinceMs: 100 })
    expect(missingNonceSince(first, [4], 200)).toBe(first)
    expect(missingNonceSince(first, [5], 300)).toEqual({ first: 5, sinceMs: 300 })
    expect(missingNonceSince(first, [], 400)).toBeNull()
    expect(missingNonceSince(first, [4], 50), 'the clock was set back').toEqual({
      first: 4,
      sinceMs: 50,
    })
  })
})
