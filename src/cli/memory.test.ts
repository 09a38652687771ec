import { expect, it } from 'vitest'
import { collectHeapWhenIdle } from './memory.js'

const LEFT_BEHIND = 600_000
const MIB = 2 ** 20

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
