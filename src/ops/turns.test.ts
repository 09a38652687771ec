import { expect, it } from 'vitest'
import { mapWithoutBlocking, waitForEventLoopTurn } from './turns.js'

const turn = () => waitForEventLoopTurn('192.0.2.1')

it('many elements are mapped in their order, and other work has turns meanwhile', async () => {
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const items = Array.from({ length: 1_000 }, (_, i) => i)
  const mapped = await mapWithoutBlocking(turn, items, (item, i) => [item, i])
  isDone = true
  expect(mapped).toEqual(items.map((item) => [item, item]))
  expect(turns).toBeGreaterThanOrEqual(8)
})

it('a turn of the event loop has two parts, however much work there is', async () => {
  let parts = 0
  let most = 0
  let isDone = false
  const look = () => {
    most = Math.max(most, parts)
    parts = 0
    if (!isDone) setImmediate(look)
  }
  setImmediate(look)
  const items = Array.from({ length: 500 }, (_, i) => i)
  await Promise.all(
    Array.from({ length: 20 }, () =>
      mapWithoutBlocking(turn, items, (i) => i % 32 === 0 && parts++),
    ),
  )
  isDone = true
  expect(most).toBeLessThanOrEqual(3)
})

it('the long work of one address delays another by two parts at most', async () => {
  const items = Array.from({ length: 2_000 }, (_, i) => i)
  const done: string[] = []
  const many = Promise.all(
    Array.from({ length: 20 }, () =>
      mapWithoutBlocking(turn, items, (i) => i).then(() => done.push('a')),
    ),
  )
  const few = mapWithoutBlocking(
    () => waitForEventLoopTurn('192.0.2.2'),
    items.slice(0, 500),
    (i) => i,
  ).then(() => done.push('b'))
  await Promise.all([many, few])
  expect(done[0]).toBe('b')
})
