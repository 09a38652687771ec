import { expect, it } from 'vitest'
import { okAnswer } from '../../src/api/http/answer.js'
import { type RoutePrice, route } from '../../src/api/http/route.js'
import { z } from '../../src/api/http/schema.js'
import { type ApiWorld, useApi } from './support.js'

/**
 * Requests of more than one unit start in separate turns of the event loop, even if many arrive together. Of the cheap
 * requests of one address, one starts at once and the others in turns.
 */

const WORK_MS = 5
let turn = 0
const begun: number[] = []

const priced = (path: string, units: number) => {
  const price: RoutePrice = { text: String(units), of: () => units }
  return route.get(path, {
    bad: null,
    costliest: {},
    summary: 'Works for some time',
    responses: { 200: { description: 'Done', schema: z.object({}) } },
    price,
    async handle() {
      begun.push(turn)
      const untilMs = performance.now() + WORK_MS
      while (performance.now() < untilMs);
      return okAnswer({})
    },
  })
}

const moreRoutes = [priced('/made-up/expensive', 2), priced('/made-up/cheap', 1)]
const MANY = { perSecond: 1_000, burst: 10_000 }
const limits = {
  address: MANY,
  key: MANY,
  keysPerDay: 1,
  changesPerMinute: 1,
  changesPerDay: 1,
  clustersPerDay: 1,
  namesPerDay: 1,
}
const limited = useApi({ moreRoutes, limits })
const unlimited = useApi({ moreRoutes })

/** Maximum number of requests that started in one turn, of many that arrive together. */
async function mostInATurn(world: ApiWorld, path: string): Promise<number> {
  begun.length = 0
  let isCounting = true
  const count = () => {
    turn += 1
    if (isCounting) setImmediate(count)
  }
  count()
  const replies = await Promise.all(Array.from({ length: 20 }, () => world.get(path)))
  isCounting = false
  expect(replies.map(({ status }) => status)).toEqual(Array(20).fill(200))
  const ofTurn = begun.map((one) => begun.filter((other) => other === one).length)
  return Math.max(...ofTurn)
}

it('one expensive request starts per turn', async () => {
  expect(await mostInATurn(unlimited, '/made-up/expensive')).toBe(1)
})

it('one cheap request of an address starts at once, and one of its others per turn', async () => {
  expect(await mostInATurn(limited, '/made-up/cheap')).toBeLessThanOrEqual(2)
})

it('all cheap requests of a client with raised limits start at once', async () => {
  expect(await mostInATurn(unlimited, '/made-up/cheap')).toBeGreaterThan(3)
})
