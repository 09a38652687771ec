import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { servedByKey, servedFor } from './served.js'

describe('served answers', () => {
  it('are no older than their time, and asked for no more often, whatever is asked when', async () => {
    const step = fc.record({ key: fc.integer({ min: 0, max: 3 }), waitMs: fc.integer({ min: 0, max: 120 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        let nowMs = 0
        let asked = 0
        const serve = servedByKey(
          async (key: number) => {
            asked += 1
            return { key, atMs: nowMs }
          },
          { forMs: ({ key }) => 50 * key, most: 10, nowMs: () => nowMs },
        )
        const last = new Map<number, number>()
        for (const { key, waitMs } of steps) {
          nowMs += waitMs
          const before = asked
          const answer = await serve(key)
          expect(answer.key).toBe(key)
          const askedMs = last.get(key)
          expect(asked).toBe(before + Number(askedMs === undefined || nowMs >= askedMs + 50 * key))
          if (asked > before) last.set(key, nowMs)
          expect(answer.atMs).toBe(last.get(key))
        }
      }),
    )
  })

  it('are as many as may be kept: the oldest makes room', async () => {
    const asked: number[] = []
    const serve = servedByKey(async (key: number) => asked.push(key), { forMs: () => 1_000, most: 2, nowMs: () => 0 })
    for (const key of [1, 2, 2, 3, 2, 1]) await serve(key)
    expect(asked).toEqual([1, 2, 3, 1])
  })

  it('are shared while they are under way, until one has hung for too long', async () => {
    let nowMs = 0
    let asked = 0
    const ask = () => {
      asked += 1
      return asked === 1 ? new Promise<number>(() => {}) : Promise.resolve(asked)
    }
    const serve = servedFor(100, ask, () => nowMs)
    void serve()
    nowMs = 1_999
    void serve()
    expect(asked).toBe(1)
    nowMs = 2_000
    expect(await serve()).toBe(2)
  })

  it('end where the clock is set back: no head stands still for as long', async () => {
    let [nowMs, asked] = [86_400_000, 0]
    const serve = servedFor(
      1_000,
      async () => ++asked,
      () => nowMs,
    )
    expect([await serve(), await serve()]).toEqual([1, 1])
    nowMs = 0
    expect([await serve(), await serve()]).toEqual([2, 2])
    nowMs = 1_000
    expect(await serve()).toBe(3)
  })

  it('stay, though an older question fails later', async () => {
    let nowMs = 0
    let fail = (_error: Error) => {}
    const answers = [new Promise<string>((_, reject) => (fail = reject)), Promise.resolve('new')]
    const serve = servedFor(
      10_000,
      () => answers.shift()!,
      () => nowMs,
    )
    const first = serve()
    nowMs = 2_000
    expect(await serve()).toBe('new')
    fail(new Error('late'))
    await expect(first).rejects.toThrow('late')
    expect(await serve()).toBe('new')
  })

  it('are no failures', async () => {
    let isDown = true
    const serve = servedFor(1_000, async () => {
      if (isDown) throw new Error('down')
      return 'up'
    })
    await expect(serve()).rejects.toThrow('down')
    isDown = false
    expect(await serve()).toBe('up')
  })
})
