import type pg from 'pg'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { ChangeNotifications } from '../../src/push/changeNotifications.js'
import { FeedTail } from '../../src/push/feedTail.js'
import { bid, freshName, randomAddress, startApi } from '../api/support.js'
import { useWorld } from '../support/useWorld.js'

const world = useWorld(() => startApi())

// no wait ends by its polling interval, so a read that a change did not cause never comes
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

const grow = () => world.append('mainnet', [bid({ from: randomAddress(), name: freshName() })])
const newest = async () =>
  (await world.get('/v1/events?orderBy=newest&limit=1')).body.items[0].id as string

/** A tail whose statements pass through a function. */
function tailOf(query: (asked: pg.QueryArrayConfig) => unknown) {
  const pool: pg.Pool = Object.assign(Object.create(world.pool), { query })
  const notifications = new ChangeNotifications()
  const reported: unknown[] = []
  const onInternalError = (error: unknown) => void reported.push(error)
  const tail = new FeedTail({ pool, notifications, onInternalError })
  return { tail, notifications, reported, notify: () => notifications.onNotify('mainnet') }
}

const endOfFeed = async () => {
  await grow()
  const [, generation, number] = (await newest()).split('-').map(Number)
  return { generation: generation!, next: number! + 1 }
}

it.each([0, 1, 2, 3, 4])(
  'an event that is notified %i ticks after a read that missed it is read at once',
  async (steps) => {
    const { generation, next } = await endOfFeed()
    let reads = 0
    const { tail, notify } = tailOf(async (asked) => {
      const found = await world.pool.query(asked)
      reads += 1
      if (reads > 1) return found
      await grow()
      void (async () => {
        for (let step = 0; step < steps; step++) await null
        notify()
      })()
      return found
    })
    const { signal } = new AbortController()
    const found = await tail.next('mainnet', generation, next, signal)
    expect(found).toMatchObject([{ number: next }, { number: next + 1 }, { number: next + 2 }])
  },
)

it('streams at the same position share the reads, and a stream that leaves ends only its own wait', async () => {
  const { generation, next } = await endOfFeed()
  let reads = 0
  const { tail, notify } = tailOf((asked) => {
    if (asked.text?.includes('j.public_first')) reads += 1
    return world.pool.query(asked)
  })
  const gone = new AbortController()
  const left = tail.next('mainnet', generation, next, gone.signal)
  const streams = Array.from({ length: 20 }, () =>
    tail.next('mainnet', generation, next, new AbortController().signal),
  )
  gone.abort()
  expect(await left).toBeNull()
  await grow()
  notify()
  const found = await Promise.all(streams)
  expect(found[0]).toMatchObject([{ number: next }, { number: next + 1 }, { number: next + 2 }])
  expect(new Set(found).size).toBe(1)
  expect(reads).toBeLessThanOrEqual(2)
})

it('nothing is read once all streams have left, and a stream that comes then gets its events', async () => {
  const { generation, next } = await endOfFeed()
  let reads = 0
  const { tail, notify } = tailOf((asked) => {
    reads += 1
    return world.pool.query(asked)
  })
  const gone = new AbortController()
  const left = tail.next('mainnet', generation, next, gone.signal)
  gone.abort()
  expect(await left).toBeNull()
  await grow()
  await expect.poll(() => reads).toBeGreaterThan(0)
  const before = reads
  notify()
  const { signal } = new AbortController()
  // comes while the wait without streams ends
  const found = await tail.next('mainnet', generation, next, signal)
  expect(found).toHaveLength(3)
  expect(reads).toBeGreaterThanOrEqual(before)
})

it('an error of our own code is reported and ends the wait, an unavailable database does not', async () => {
  const failures: unknown[] = [new Error('Connection terminated'), new TypeError('a mistake')]
  const { tail, notify, reported } = tailOf(() => Promise.reject(failures.shift()))
  const { signal } = new AbortController()
  const found = tail.next('mainnet', 1, 1, signal)
  await expect.poll(() => failures.length).toBe(1)
  expect(reported).toEqual([])
  notify()
  expect(await found).toBeNull()
  expect(reported).toEqual([new TypeError('a mistake')])
})

it('a restart of the feed and the end of all waits are reported', async () => {
  const { generation, next } = await endOfFeed()
  const { tail, notifications } = tailOf((asked) => world.pool.query(asked))
  const { signal } = new AbortController()
  expect(await tail.next('mainnet', generation + 1, next, signal)).toBe('restarted')
  expect(await tail.next('mainnet', generation, next + 1_000, signal)).toBe('restarted')
  const waiting = tail.next('mainnet', generation, next, signal)
  notifications.end()
  expect(await waiting).toBeNull()
  expect(await tail.next('mainnet', generation, next, signal)).toBeNull()
})
