import { expect, it } from 'vitest'
import { okAnswer } from '../../src/api/http/answer.js'
import { declareRoute, type RoutePrice } from '../../src/api/http/route.js'
import { z } from '../../src/api/http/schema.js'
import { useApi } from './support.js'

/** Of the requests of more than one unit, two start in a turn of the event loop, even if many arrive together. */

const WORK_MS = 5
let turn = 0
const begun: number[] = []

const priced = (path: string, units: number) => {
  const price: RoutePrice = { text: String(units), of: () => units }
  return declareRoute.get(path, {
    refusedSample: null,
    costliestSample: {},
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

const moreRoutes = [
  priced('/made-up/expensive', 2),
  priced('/made-up/two-names', 1.02),
  priced('/made-up/cheap', 1),
]
const world = useApi({ moreRoutes })

/** Maximum number of requests that started in one turn, of many that arrive together. */
async function mostInATurn(path: string): Promise<number> {
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

it.each(['expensive', 'two-names'])('two expensive requests start per turn: %s', async (name) => {
  expect(await mostInATurn(`/made-up/${name}`)).toBeLessThanOrEqual(2)
})

it('cheap requests start as they arrive', async () => {
  expect(await mostInATurn('/made-up/cheap')).toBeGreaterThan(2)
})
