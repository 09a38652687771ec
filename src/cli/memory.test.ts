import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { collectHeapWhenIdle } from './memory.js'

const LEFT_BEHIND = 1_200_000
const MIB = 2 ** 20

/** Program that prints how often `collectHeapWhenIdle` collected a heap of some 60 MiB within five checks. */
const STARTED = `
import { constants, PerformanceObserver } from 'node:perf_hooks'
import { collectHeapWhenIdle } from '${new URL('./memory.ts', import.meta.url)}'
const held = Array.from({ length: 6 * 2 ** 20 }, (_, i) => i)
let collections = 0
new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries())
    if (detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) collections += 1
}).observe({ entryTypes: ['gc'] })
collectHeapWhenIdle({ everyMs: 200 })
setTimeout(() => console.log(process.memoryUsage().heapTotal > 48 * 2 ** 20, held.length > 0, collections), 1_000)`

it('the heap of a process that has only started is not collected', async () => {
  const args = ['--import', 'tsx', '--input-type=module', '--eval', STARTED]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toBe('true true 0\n')
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
