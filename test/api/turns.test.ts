import { expect, it } from 'vitest'
import { ok } from '../../src/api/http/answer.js'
import { type Price, route } from '../../src/api/http/route.js'
import { z } from '../../src/api/http/schema.js'
import { useApi } from './support.js'

/** Work of more than a unit is begun in turns of the event loop, however much of it arrives together. */

const WORK_MS = 5
let turn = 0
const begun: number[] = []

const priced = (path: string, units: number) => {
  const price: Price = { text: String(units), of: () => units }
  return route.get(path, {
    bad: null,
    dearest: {},
    summary: 'Works for some time',
    responses: { 200: { description: 'Done', schema: z.object({}) } },
    price,
    async handle() {
      begun.push(turn)
      const untilMs = performance.now() + WORK_MS
      while (performance.now() < untilMs);
      return ok({})
    },
  })
}

const world = useApi({ moreRoutes: [priced('/made-up/dear', 2), priced('/made-up/cheap', 1)] })

/** Most requests that were begun in one turn, of so many that arrive together. */
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

it('begins one dear request in a turn', async () => {
  expect(await mostInATurn('/made-up/dear')).toBe(1)
})

it('begins all cheap ones that arrived', async () => {
  expect(await mostInATurn('/made-up/cheap')).toBeGreaterThan(1)
})
