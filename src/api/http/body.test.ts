import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { routes } from '../../../scripts/declaredRoutes.js'
import { parseRequestBody } from './body.js'

const REQUEST_WITHOUT_HEADERS = { headers: {} } as IncomingMessage
const routeOf = (path: string) =>
  routes.find((route) => route.method === 'post' && route.path === path)!

it('the elements of a join are read in turns', async () => {
  let turns = 0
  const turn = async () => {
    turns += 1
  }
  const bytes = Buffer.from(Array.from({ length: 1_000 }, (_, i) => `0x${i}`).join('\n'))
  expect(
    await parseRequestBody(REQUEST_WITHOUT_HEADERS, bytes, routeOf('/v1/wallets'), turn),
  ).toHaveLength(1_000)
  expect(turns).toBe(33)
})

describe('a join', () => {
  const readJoin = async (body: string) => {
    let turns = 0
    const turn = async () => {
      turns += 1
    }
    const read = parseRequestBody(
      REQUEST_WITHOUT_HEADERS,
      Buffer.from(body),
      routeOf('/v1/wallets'),
      turn,
    )
    const result = await read.catch((error: Error) => error.message)
    return { result, turns }
  }

  it.each([
    [' \r\n a \n\tb\u00a0\r\nc\n\n', ['a', 'b', 'c']],
    ['\ufeffa\n\nb', ['a', '', 'b']],
    ['\ufeff [ "a" ,"b", "é" ] ', ['a', 'b', 'é']],
    ['[ \n ]', []],
    ['[]', []],
    ['[', 'Line 1 is no text of an address.'],
    ['["a",]', 'Element 2 is no text of an address.'],
    ['["a", b]', 'Element 2 is no text of an address.'],
    ['a\nb"\nc', 'Line 2 is no text of an address.'],
    [' \v\f', 'The request has no body.'],
    ['', 'The request has no body.'],
  ])('of %j is read', async (body, expected) => {
    expect(await readJoin(body)).toMatchObject({ result: expected })
  })

  it.each([
    ['blank', ' '.repeat(8_000_000), 'The request has no body.'],
    ['with blanks at its end', `a${' '.repeat(8_000_000)}`, ['a']],
    [
      'with too many elements',
      `[${',1'.repeat(4e6)}]`,
      'At most 100000 elements are taken at once.',
    ],
  ])('that is %s is not split further', async (_, body, result) => {
    expect(await readJoin(body)).toEqual({ result, turns: 1 })
  })
})

it('another body is read at once', async () => {
  const turn = () => Promise.reject(new Error('a turn'))
  expect(
    await parseRequestBody(REQUEST_WITHOUT_HEADERS, Buffer.from('[1]'), routeOf('/v1/names'), turn),
  ).toEqual([1])
})
