import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { cacheAnswerForDuration, cacheAnswersByKey } from './served.js'

let nowMs = 1
beforeAll(() => vi.spyOn(performance, 'now').mockImplementation(() => nowMs))
afterAll(() => vi.restoreAllMocks())

describe('cached answers', () => {
  it('are never older than their time, and are fetched at most once in that time', async () => {
    const step = fc.record({
      key: fc.integer({ min: 1, max: 3 }),
      waitMs: fc.integer({ min: 0, max: 120 }),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        let asked = 0
        nowMs = 1
        const serve = cacheAnswersByKey(
          async (key: number) => {
            asked += 1
            return { key, atMs: nowMs }
          },
          { forMs: ({ key }) => 50 * key, most: 10 },
        )
        const last = new Map<number, number>()
        for (const { key, waitMs } of steps) {
          nowMs += waitMs
          const before = asked
          const answer = await serve(key)
          expect(answer.key).toBe(key)
          const askedMs = last.get(key)
          expect(asked).toBe(before + Number(askedMs === undefined || nowMs > askedMs + 50 * key))
          if (asked > before) last.set(key, nowMs)
          expect(answer.atMs).toBe(last.get(key))
        }
      }),
    )
  })

  it('are shared by concurrent calls', async () => {
    let asked = 0
    const serve = cacheAnswerForDuration(100, async () => ++asked)
    expect(await Promise.all([serve(), serve(), serve()])).toEqual([1, 1, 1])
  })

  it('do not include failures', async () => {
    let isDown = true
    const serve = cacheAnswerForDuration(1_000, async () => {
      if (isDown) throw new Error('down')
      return 'up'
    })
    await expect(serve()).rejects.toThrow('down')
    isDown = false
    expect(await serve()).toBe('up')
  })
})
