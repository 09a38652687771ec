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

it('a turn has one part, however many requests map at once', async () => {
  let part = 0
  const turns: number[] = []
  let isDone = false
  const count = () => {
    turns.push(part)
    part = 0
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const items = Array.from({ length: 1_000 }, (_, i) => i)
  await Promise.all(Array.from({ length: 5 }, () => mapInTurns(items, (_, i) => (part += Number(i % 100 === 0)))))
  isDone = true
  expect(Math.max(...turns)).toBe(1)
  expect(turns.length).toBeGreaterThanOrEqual(49)
})
