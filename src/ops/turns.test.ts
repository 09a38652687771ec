import { expect, it } from 'vitest'
import {
  CHEAP_REQUESTS_A_TURN,
  mapWithoutBlocking,
  waitForEventLoopTurn,
  waitForTurnOfCheapRequest,
} from './turns.js'

const turn = () => waitForEventLoopTurn({ address: '192.0.2.1' })

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

it('a turn of the event loop has one part, however much work there is', async () => {
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
      mapWithoutBlocking(turn, items, (i) => i % 100 === 0 && parts++),
    ),
  )
  isDone = true
  expect(most).toBeLessThanOrEqual(2)
})

it('a turn of the event loop has a bounded number of cheap pieces, and addresses take turns', async () => {
  const begun: string[] = []
  const mostOfTurn: number[] = []
  let seen = 0
  let isDone = false
  const look = () => {
    mostOfTurn.push(begun.length - seen)
    seen = begun.length
    if (!isDone) setImmediate(look)
  }
  setImmediate(look)
  const begin = (address: string) =>
    waitForTurnOfCheapRequest({ address }).then(() => begun.push(address))
  const many = Array.from({ length: 100 }, () => begin('192.0.2.1'))
  await Promise.all([...many, begin('192.0.2.2')])
  isDone = true
  expect(Math.max(...mostOfTurn)).toBeLessThanOrEqual(2 * CHEAP_REQUESTS_A_TURN)
  expect(begun.indexOf('192.0.2.2')).toBeLessThan(2 * CHEAP_REQUESTS_A_TURN)
})

it('the long work of one address delays the first part of another by one part', async () => {
  const items = Array.from({ length: 2_000 }, (_, i) => i)
  const done: string[] = []
  const many = Promise.all(
    Array.from({ length: 20 }, () =>
      mapWithoutBlocking(turn, items, (i) => i).then(() => done.push('a')),
    ),
  )
  const few = mapWithoutBlocking(
    () => waitForEventLoopTurn({ address: '192.0.2.2' }),
    items.slice(0, 500),
    (i) => i,
  ).then(() => done.push('b'))
  await Promise.all([many, few])
  expect(done[0]).toBe('b')
})
