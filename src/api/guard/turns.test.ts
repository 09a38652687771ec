import { expect, it } from 'vitest'
import { createTurns, MAX_WAITING_PER_WALLET } from './turns.js'

const mallory = Buffer.of(1, 1)
const alice = Buffer.of(1, 2)
const bob = Buffer.of(1, 3)

/** Turns that stand still until `go` is called. */
function held() {
  const turns = createTurns()
  const made: string[] = []
  let go = () => {}
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  const take = (wallet: Buffer, what: string, signal?: AbortSignal) =>
    turns.take(
      wallet,
      async () => {
        await gate
        made.push(what)
      },
      signal,
    )
  return { turns, made, take, go }
}

it('wallets take turns, each in its own order', async () => {
  const { take, made, go } = held()
  const all = Array.from({ length: 10 }, (_, i) => take(mallory, `m${i}`))
  all.push(...['a0', 'a1'].map((what) => take(alice, what)), take(bob, 'b0'))
  go()
  await Promise.all(all)
  // three run at once
  expect(made).toEqual([
    'm0',
    'm1',
    'm2',
    'm3',
    'a0',
    'b0',
    'm4',
    'a1',
    'm5',
    'm6',
    'm7',
    'm8',
    'm9',
  ])
})

it('a wallet with many changes is refused its own alone', async () => {
  const { take, made, go } = held()
  const flood = Array.from({ length: 1_500 }, () =>
    take(mallory, 'm').catch((error) => error.message),
  )
  const other = take(alice, 'a')
  go()
  await other
  const refused = (await Promise.all(flood)).filter((message) => message !== undefined)
  expect(new Set(refused)).toEqual(new Set(['Too many changes of this wallet are waiting.']))
  expect(made.filter((what) => what === 'm')).toHaveLength(3 + MAX_WAITING_PER_WALLET)
  expect(made.indexOf('a')).toBeLessThan(6)
})

it('who hangs up is dropped and counts no more', async () => {
  const { turns, take, made, go } = held()
  const running = Array.from({ length: 3 }, () => take(bob, 'b'))
  const gone = new AbortController()
  const dropped = Array.from({ length: 8 }, () => take(mallory, 'm', gone.signal))
  const outcomes = Promise.allSettled(dropped)
  gone.abort(new Error('gone'))
  expect((await outcomes).filter(({ status }) => status !== 'rejected')).toEqual([])
  expect(turns.waiting()).toBe(0)
  const later = take(mallory, 'later')
  go()
  await Promise.all([...running, later])
  expect(made).toEqual(['b', 'b', 'b', 'later'])
})

it('who hangs up while the change is made keeps the turn until that has ended', async () => {
  const { turns, take, go } = held()
  const gone = new AbortController()
  const running = Array.from({ length: 3 }, () => take(bob, 'b', gone.signal))
  const next = take(alice, 'a')
  gone.abort(new Error('gone'))
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect(turns.waiting()).toBe(1)
  go()
  // made, so said to be made
  await Promise.all([...running, next])
})

it('with too many wallets the next change is refused', async () => {
  const { turns, take, go } = held()
  const all = Array.from({ length: 1_200 }, (_, i) =>
    take(Buffer.of(i & 255, i >> 8), 'x').catch((error) => error.code),
  )
  expect(turns.waiting()).toBe(1_000)
  go()
  expect((await Promise.all(all)).filter((code) => code === 'unavailable')).toHaveLength(197)
})
