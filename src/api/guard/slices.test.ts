import { expect, it } from 'vitest'
import { mapInTurns } from './slices.js'

it('many elements are mapped in their order, and others have turns meanwhile', async () => {
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const items = Array.from({ length: 1_000 }, (_, i) => i)
  const mapped = await mapInTurns(items, (item, i) => [item, i])
  isDone = true
  expect(mapped).toEqual(items.map((item) => [item, item]))
  expect(turns).toBeGreaterThanOrEqual(8)
})
