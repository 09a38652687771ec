import { expect, it } from 'vitest'
import { CapacityLimiter } from './capacityLimiter.js'

/** A limiter of 2 places per client and 4 in total, with the clients whose places were given away. */
function crowded() {
  const left: string[] = []
  const places = new CapacityLimiter({ perClient: 2, total: 4 })
  const take = (client: string) => {
    const free = places.take(client, 1, () => left.push(client))
    return typeof free === 'function' ? free : expect.unreachable(free)
  }
  return { places, left, take }
}

it('gives a place of the client with most to a client with fewer', () => {
  const { places, left, take } = crowded()
  for (const client of ['a', 'b', 'b', 'c']) take(client)
  take('d')
  expect([left, places.taken]).toEqual([['b'], 4])
  // every client has one place now
  expect(places.take('e', 1, () => {})).toBe('total')
  expect(places.take('a', 1, () => {})).toBe('total')
  expect(left).toEqual(['b'])
})

it('does not free a place that was already given away', () => {
  const { places, left, take } = crowded()
  const frees = ['a', 'a', 'b', 'c'].map(take)
  take('d')
  expect(left).toEqual(['a'])
  for (const free of [...frees, ...frees]) free()
  expect(places.taken).toBe(1)
})

it('takes no place from clients whose places can not be given away', () => {
  const { places, left } = crowded()
  for (const client of ['a', 'a', 'b', 'b']) places.take(client)
  expect(places.take('c', 1, () => left.push('c'))).toBe('total')
  expect(places.taken).toBe(4)
})

it('gives as many places as a request needs', () => {
  const left: number[] = []
  const places = new CapacityLimiter({ perClient: 4, total: 4 })
  for (const i of [1, 2, 3, 4]) places.take('a', 1, () => left.push(i))
  expect(places.take('b', 2, () => {})).toBeTypeOf('function')
  expect([left, places.taken]).toEqual([[4, 3], 4])
  expect(places.take('c', 2, () => {})).toBe('total')
})
