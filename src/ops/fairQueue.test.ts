import { expect, it } from 'vitest'
import { FairQueue, QueueFullError } from './fairQueue.js'

const ALICE = '192.0.2.1'
const BOB = '192.0.2.2'

/** A queue that starts no work until `go` is called. */
function held(bounds = { atOnce: 3, waiting: 1_000 }) {
  const queue = new FairQueue(bounds)
  const made: string[] = []
  let go = () => {}
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  const take = (address: string, what: string, wallet?: string) =>
    queue.run(
      address,
      async () => {
        await gate
        made.push(what)
      },
      wallet,
    )
  return { queue, made, take, go }
}

it('addresses take turns, each in its own order', async () => {
  const { take, made, go } = held()
  const all = Array.from({ length: 8 }, (_, i) => take(ALICE, `a${i}`))
  all.push(take(BOB, 'b0'), take(BOB, 'b1'))
  go()
  await Promise.all(all)
  // three run at once
  expect(made).toEqual(['a0', 'a1', 'a2', 'a3', 'b0', 'a4', 'b1', 'a5', 'a6', 'a7'])
})

it('wallets of an address take turns within those of the address', async () => {
  const { take, made, go } = held({ atOnce: 1, waiting: 1_000 })
  const all = Array.from({ length: 4 }, (_, i) => take(ALICE, `x${i}`, 'x'))
  all.push(take(ALICE, 'y0', 'y'), take(ALICE, 'y1', 'y'), take(BOB, 'b0'), take(BOB, 'b1'))
  go()
  await Promise.all(all)
  expect(made).toEqual(['x0', 'x1', 'b0', 'y0', 'b1', 'x2', 'y1', 'x3'])
})

it('much work of one address delays another address by one piece of work', async () => {
  const { take, made, go } = held()
  const flood = Array.from({ length: 24 }, () => take(ALICE, 'a'))
  const other = take(BOB, 'b')
  go()
  await other
  expect(made.indexOf('b')).toBeLessThan(6)
  await Promise.all(flood)
})

it('a full queue refuses the newest work of the address with most work', async () => {
  const { queue, take, made, go } = held({ atOnce: 1, waiting: 10 })
  const outcomes = Array.from({ length: 20 }, (_, i) =>
    take(ALICE, `a${i}`).catch((error) => error),
  )
  const others = ['b0', 'b1', 'b2'].map((what) => take(BOB, what))
  expect(queue.size).toBe(10)
  go()
  await Promise.all(others)
  const refused = (await Promise.all(outcomes)).map((error) => error instanceof QueueFullError)
  // one runs, ten wait, and three of those are refused to make room
  expect(refused).toEqual(Array.from({ length: 20 }, (_, i) => i >= 8))
  expect(made.filter((what) => what.startsWith('b'))).toEqual(['b0', 'b1', 'b2'])
})

it('of addresses with equally much work, a full queue refuses that of the one whose turn comes last', async () => {
  const { take, made, go } = held({ atOnce: 1, waiting: 3 })
  const of = (i: number) => `198.51.100.${i}`
  const running = take(ALICE, 'running')
  const first = take(BOB, 'honest')
  const others = [1, 2, 3, 4].map((i) => take(of(i), `${i}`).catch((error) => error))
  go()
  await Promise.all([running, first])
  const refused = (await Promise.all(others)).map((error) => error instanceof QueueFullError)
  expect(refused).toEqual([false, false, true, true])
  expect(made).toEqual(['running', 'honest', '1', '2'])
})

it('work that fails makes room for the next', async () => {
  const queue = new FairQueue({ atOnce: 1, waiting: 10 })
  const failed = queue.run(ALICE, () => Promise.reject(new Error('no')))
  const next = queue.run(BOB, () => 'made')
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('made')
})
