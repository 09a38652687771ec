import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { routes } from '../routes.js'
import { parseRequestBody } from './body.js'

const REQUEST = { headers: {} } as IncomingMessage
const routeOf = (path: string) =>
  routes.find((route) => route.method === 'post' && route.path === path)!

it('the elements of a join are read in turns', async () => {
  let turns = 0
  const turn = async () => {
    turns += 1
  }
  const bytes = Buffer.from(Array.from({ length: 1_000 }, (_, i) => `0x${i}`).join('\n'))
  expect(await parseRequestBody(REQUEST, bytes, routeOf('/v1/wallets'), turn)).toHaveLength(1_000)
  expect(turns).toBe(10)
})

it('another body is read at once', async () => {
  const turn = () => Promise.reject(new Error('a turn'))
  expect(await parseRequestBody(REQUEST, Buffer.from('[1]'), routeOf('/v1/names'), turn)).toEqual([
    1,
  ])
})
