import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Staleness } from './staleness.js'

it('what a server lacks is as old as the first place of the log that it lacks', () => {
  const staleness = new Staleness()
  expect(staleness.of(0n, 1_000)).toBe(0)
  for (const [lsn, atMs] of [
    [10n, 0],
    [10n, 200],
    [20n, 400],
    [30n, 600],
  ] as const)
    staleness.note(lsn, atMs)
  expect(staleness.of(30n, 1_000)).toBe(0)
  expect(staleness.of(29n, 1_000)).toBe(400)
  expect(staleness.of(10n, 1_000)).toBe(600)
  expect(staleness.of(9n, 1_000)).toBe(1_000)
  // another primary, whose log is shorter
  staleness.note(15n, 1_200)
  expect([staleness.of(15n, 2_000), staleness.of(10n, 2_000)]).toEqual([0, 800])
})

it('no server that lacks something seems younger than that, however long it is watched', () => {
  const steps = fc.array(fc.record({ bytes: fc.integer({ min: 0, max: 5 }), ms: fc.integer({ min: 1, max: 300 }) }), {
    maxLength: 600,
  })
  fc.assert(
    fc.property(steps, fc.nat(3_000), (moves, at) => {
      const staleness = new Staleness()
      let [lsn, nowMs] = [0, 0]
      let missedMs: number | null = null
      for (const { bytes, ms } of moves) {
        lsn += bytes
        nowMs += ms
        staleness.note(BigInt(lsn), nowMs)
        if (missedMs === null && lsn > at) missedMs = nowMs
      }
      const age = staleness.of(BigInt(at), nowMs)
      if (missedMs === null) expect(age).toBe(0)
      else expect(age).toBeGreaterThanOrEqual(Math.min(nowMs - missedMs, 256))
    }),
  )
})
