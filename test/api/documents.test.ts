import { expect, it } from 'vitest'
import { randomAddress, useApi } from './support.js'

/** The OpenAPI documents declare 304 Not Modified for JSON responses. */

const world = useApi()

it.each([
  [
    '/openapi.json',
    '/v1/names/owner/address/{address}',
    `/v1/names/owner/address/${randomAddress()}`,
  ],
  ['/openapi.json', '/v1/networks', '/v1/networks'],
  ['/openapi.json', '/v1/events', '/v1/events'],
  ['/openapi-v0.1.json', '/v0.1/name/{address}', `/v0.1/name/${randomAddress()}`],
  ['/openapi-v0.1.json', '/v0.1/events', '/v0.1/events'],
])('%s: %s answers 304 to a client that has the response', async (document, route, path) => {
  const { etag } = Object.fromEntries((await world.get(path)).headers)
  const { status } = await fetch(`${world.url}${path}`, { headers: { 'if-none-match': etag! } })
  const { responses } = (await world.get(document)).body.paths[route].get
  expect(status).toBe(304)
  expect(Object.keys(responses)).toContain('304')
  expect(Object.keys(responses['200'].headers)).toContain('ETag')
  expect(Object.keys(responses['304'].headers)).toContain('ETag')
})
