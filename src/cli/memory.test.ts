import { constants, PerformanceObserver } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { collectHeapWhenIdle } from './memory.js'

const LEFT_BEHIND = 1_200_000
const MIB = 2 ** 20

it('the heap of a process that has only started is not collected', async () => {
  const held = Array.from({ length: 6 * MIB }, (_, i) => i)
  const { heapTotal } = process.memoryUsage()
  expect(heapTotal).toBeGreaterThan(40 * MIB)
  expect(heapTotal).toBeLessThan(128 * MIB)
  let collections = 0
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries())
      if ((detail as { flags: number }).flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED)
        collections += 1
  })
  observer.observe({ entryTypes: ['gc'] })
  const end = collectHeapWhenIdle({ everyMs: 200 })
  await sleep(1_000)
  end()
  observer.disconnect()
  expect(collections).toBe(0)
  expect(held.at(-1)).toBe(held.length - 1)
})

it('a heap that grew under load is returned to the system when the process is idle', async () => {
  const kept = load()
  const loaded = process.memoryUsage().heapTotal
  const end = collectHeapWhenIdle({ everyMs: 200 })
  try {
    const given = () => (loaded - process.memoryUsage().heapTotal) / MIB
    await expect.poll(given, { timeout: 30_000, interval: 100 }).toBeGreaterThan(40)
  } finally {
    end()
  }
  expect(kept[0]).toMatchObject({ i: 0 })
})

/** Leaves garbage between live objects. */
function load(): { i: number }[] {
  const all = Array.from({ length: LEFT_BEHIND }, (_, i) => ({
    i,
    text: `some text ${i}`,
    list: [i],
  }))
  return all.filter(({ i }) => i % 7 === 0)
}
