import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createDeadlines } from './deadlines.js'
import { CallerLeftError, CallerPatience } from './patience.js'

const LIMIT_MS = 1_000

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
afterEach(() => void vi.useRealTimers())

/** Requests that begin some time after one another, and end by themselves after a while. */
const requests = fc.array(fc.record({ afterMs: fc.nat(400), lastsMs: fc.integer({ min: 1, max: 2_500 }) }), {
  minLength: 1,
  maxLength: 20,
})

it('ends what lasts longer than the limit, at its time, and nothing else', () => {
  fc.assert(
    fc.property(requests, (plan) => {
      const begin = createDeadlines(LIMIT_MS)
      const endedMs: (number | null)[] = plan.map(() => null)
      let startMs = performance.now()
      const startsMs = plan.map(({ afterMs }) => (startMs += afterMs))
      plan.forEach(({ lastsMs }, i) => {
        setTimeout(() => {
          const forget = begin(() => {
            endedMs[i] = performance.now() - startsMs[i]!
          })
          setTimeout(forget, lastsMs)
        }, startsMs[i]! - performance.now())
      })
      vi.runAllTimers()
      plan.forEach(({ lastsMs }, i) => {
        if (lastsMs < LIMIT_MS) expect(endedMs[i]).toBeNull()
        if (lastsMs > LIMIT_MS) expect(endedMs[i]).toBe(LIMIT_MS)
      })
    }),
  )
})

it('waits with one timer for all', () => {
  const begin = createDeadlines(LIMIT_MS)
  for (let i = 0; i < 100; i++) begin(() => {})
  expect(vi.getTimerCount()).toBe(1)
})

it('a caller who left before anybody looked is waited for by nobody', () => {
  const res = Object.assign(new EventEmitter(), { closed: true, writableFinished: false }) as unknown as ServerResponse
  const { signal } = new CallerPatience({ res, startedMs: performance.now() }, LIMIT_MS)
  expect(signal.reason).toBeInstanceOf(CallerLeftError)
})
