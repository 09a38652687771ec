import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { routes } from '../routes.js'
import { bodyOf } from './body.js'

const REQUEST = { headers: {} } as IncomingMessage
const routeOf = (path: string) =>
  routes.find((route) => route.method === 'post' && route.path === path)!

it.each([
  ['a list', '/v1/names', 100_000],
  ['a join', '/v1/wallets', 100_000],
])('a long body is parsed in a turn of its own: %s', async (_what, path, length) => {
  const steps: string[] = []
  let begin = (): void => {}
  const turn = () =>
    new Promise<void>((resolve) => {
      steps.push('waits')
      begin = resolve
    })
  const bytes = Buffer.from(`[${' '.repeat(length)}]`)
  const parsed = bodyOf(REQUEST, bytes, routeOf(path), turn).then(() => steps.push('parsed'))
  await new Promise(setImmediate)
  expect(steps).toEqual(['waits'])
  begin()
  await parsed
  expect(steps).toEqual(['waits', 'parsed'])
})

it('a short body does not wait', async () => {
  const turn = () => Promise.reject(new Error('a turn'))
  expect(await bodyOf(REQUEST, Buffer.from('[1]'), routeOf('/v1/names'), turn)).toEqual([1])
})
