import { beforeEach, expect, it, vi } from 'vitest'
import { type Answer, okAnswer } from '../../src/api/http/answer.js'
import { ApiError } from '../../src/api/http/errors.js'
import { type RoutePrice, route } from '../../src/api/http/route.js'
import { z } from '../../src/api/http/schema.js'
import { bid, freshName, randomAddress, useApi } from './support.js'

/** Requests of one key that arrive while its response is made wait for that response, if nobody can delay it. */

const TOGETHER = 20

/** Number of responses that the handler has begun. */
let begun = 0
let finish: (answer: Partial<Answer>) => void
let fail: (error: Error) => void
/** What the handler waits for. */
let held: Promise<Partial<Answer>>

const priced = (path: string, units: number) => {
  const price: RoutePrice = { text: String(units), of: () => units }
  return route.get(path, {
    bad: null,
    costliest: {},
    summary: 'Answers once the test lets it',
    responses: { 200: { description: 'Done', schema: z.object({}) } },
    price,
    cacheSource: 'journal',
    errors: ['wallet_exists'],
    async handle() {
      begun += 1
      const made = begun
      return { ...okAnswer({ made }), ...(await held) }
    },
  })
}

const CHEAP = '/made-up/cheap'
const EXPENSIVE = '/made-up/expensive'
const world = useApi({ moreRoutes: [priced(CHEAP, 1), priced(EXPENSIVE, 2)], trustProxy: 1 })

const hold = (): void => {
  held = new Promise((resolve, reject) => {
    finish = resolve
    fail = reject
  })
  held.catch(() => {})
}

const ask = (path: string, address = '192.0.2.1') =>
  world.request(path, { headers: { 'x-forwarded-for': address } })

const change = () => world.append('mainnet', [bid({ from: randomAddress(), name: freshName() })])

const askMany = (path: string, address?: string) =>
  Array.from({ length: TOGETHER }, () => ask(path, address))

/** Time in which most requests arrive. A later one gets the cached response, and tests nothing. */
const ARRIVAL_MS = 300
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

beforeEach(async () => {
  held = Promise.resolve({})
  // the first response of a key is made without a version, so it is not shared
  for (const path of [CHEAP, EXPENSIVE]) await ask(path)
  await change()
  begun = 0
  hold()
})

it.each([CHEAP, EXPENSIVE])(
  '%s: one response is made for many requests of an address',
  async (path) => {
    const asked = askMany(path)
    await vi.waitUntil(() => begun > 0)
    await pause(ARRIVAL_MS)
    finish({})
    const replies = await Promise.all(asked)
    expect(replies.map(({ body }) => body.made)).toEqual(Array(TOGETHER).fill(1))
    expect(begun).toBe(1)
  },
)

it('a request after a change does not get the response that was begun before', async () => {
  const before = ask(CHEAP)
  await vi.waitUntil(() => begun === 1)
  await change()
  const after = ask(CHEAP)
  await vi.waitUntil(() => begun === 2)
  finish({})
  expect((await before).body.made).toBe(1)
  expect((await after).body.made).toBe(2)
})

it('a client waits for no response that waits for the other requests of a stranger', async () => {
  const stranger = ask(EXPENSIVE, '192.0.2.66')
  await vi.waitUntil(() => begun === 1)
  const visitor = ask(EXPENSIVE)
  await vi.waitUntil(() => begun === 2)
  finish({})
  expect((await visitor).body.made).toBe(2)
  expect((await stranger).body.made).toBe(1)
})

it('a response that fails, or depends on more than the key says, is shared with nobody', async () => {
  const failing = askMany(CHEAP)
  await vi.waitUntil(() => begun > 0)
  await pause(ARRIVAL_MS)
  const { length } = failing
  const failed = fail
  hold()
  failed(new ApiError('wallet_exists', 'It exists.'))
  await vi.waitUntil(() => begun === length)
  finish({ isTransient: true })
  const replies = await Promise.all(failing)
  expect(replies.map(({ status }) => status).sort()).toEqual([...Array(length - 1).fill(200), 409])
  expect(new Set(replies.map(({ body }) => body.made)).size).toBe(length)
})
