import type pg from 'pg'
import { expect, it } from 'vitest'
import { ChangeNotifications } from '../../src/push/changeNotifications.js'
import { FeedTailReader } from '../../src/push/feedTail.js'
import { bid, freshName, randomAddress, startApi } from '../api/support.js'
import { useWorld } from '../support/useWorld.js'

/** Shorter than the polling interval of a tail. */
const SOON = { timeout: 2_500, interval: 10 }

const world = useWorld(() => startApi())

const grow = () => world.append('mainnet', [bid({ from: randomAddress(), name: freshName() })])
const newest = async () =>
  (await world.get('/v1/events?orderBy=newest&limit=1')).body.items[0].id as string

it.each([0, 1, 2, 3, 4])(
  'an event that is notified %i ticks after the last read is read at once',
  async (steps) => {
    await grow()
    const [, generation, number] = (await newest()).split('-').map(Number)
    let isFirst = true
    const query = async (asked: pg.QueryArrayConfig) => {
      const found = await world.pool.query(asked)
      // append after the tail's read, and notify after it has passed its events on
      if (isFirst && found.rows.length > 0 && found.fields[0]!.name === 'serial') await grow()
      return found
    }
    const pool = Object.assign(Object.create(world.pool), { query })
    const tail: FeedTailReader = new FeedTailReader({
      pool,
      network: 'mainnet',
      news: new ChangeNotifications(),
    })
    const taken: number[] = []
    const leave = tail.follow(generation!, number! + 1, {
      take(events) {
        taken.push(...events.map((event) => event.number))
        if (!isFirst) return
        isFirst = false
        void (async () => {
          for (let step = 0; step < steps; step++) await null
          await tail.readNew()
        })()
      },
      restart() {},
    })
    await grow()
    void tail.readNew()
    await expect.poll(() => taken.at(-1), SOON).toBe(number! + 6)
    expect(taken).toEqual(Array.from({ length: 6 }, (_, i) => number! + 1 + i))
    leave!()
  },
)

it('an error of our own code is reported, and an unavailable database is not', async () => {
  const reported: unknown[] = []
  const failures: unknown[] = [new Error('Connection terminated'), new TypeError('a mistake')]
  const query = () => Promise.reject(failures.shift())
  const tail = new FeedTailReader({
    pool: Object.assign(Object.create(world.pool), { query }),
    network: 'mainnet',
    news: new ChangeNotifications(),
    onOwnError: (error) => void reported.push(error),
  })
  const leave = tail.follow(1, 1, { take() {}, restart() {} })
  await tail.readNew()
  await tail.readNew()
  expect(reported).toEqual([new TypeError('a mistake')])
  leave!()
})
