import { expect, it } from 'vitest'
import { routes } from '../../../scripts/declaredRoutes.js'
import { badRequestOf } from '../../../test/support/declaredRequests.js'
import { okAnswer } from './answer.js'
import { declareRoute } from './route.js'
import { REQUEST_WITHOUT_KEY } from './sampleRequests.js'
import { z } from './schema.js'

const handle = async () => okAnswer(null)
const sharedFields = { costliestSample: {}, summary: '', responses: {}, handle }
const body = z.object({ name: z.string() })
const refusedSample = { what: 'nothing', error: 'invalid_request' } as const

it('the type check requires the fields of a declaration', () => {
  const required = { ...sharedFields, auth: 'required' } as const
  const optional = { ...sharedFields, auth: 'optional', refusedSample: null } as const
  const declared = [
    declareRoute.get('/x', { ...sharedFields, refusedSample: null, cacheSource: 'journal' }),
    declareRoute.get('/x', { ...optional, privateDataFor: 'members' }),
    declareRoute.post('/x', { ...sharedFields, refusedSample, body }),
    declareRoute.post('/x', {
      ...required,
      refusedSample: REQUEST_WITHOUT_KEY,
      privateDataFor: null,
    }),
    // @ts-expect-error: no most expensive request
    declareRoute.get('/x', { summary: '', responses: {}, handle, refusedSample: null }),
    // @ts-expect-error: a required key, and no privateDataFor
    declareRoute.post('/x', { ...required, refusedSample: REQUEST_WITHOUT_KEY }),
    // @ts-expect-error: an optional key, and no privateDataFor
    declareRoute.get('/x', optional),
    // @ts-expect-error: private data without a key
    declareRoute.get('/x', { ...sharedFields, refusedSample: null, privateDataFor: 'caller' }),
    // @ts-expect-error: cached responses on a route with a key
    declareRoute.get('/x', { ...optional, privateDataFor: null, cacheSource: 'journal' }),
  ]
  for (const one of declared) expect(one.handle).toBe(handle)
})

it('a route with a body has a bad request', () => {
  const made = [
    declareRoute.post('/x', { ...sharedFields, body }),
    declareRoute.post('/x', { ...sharedFields, refusedSample: null, body }),
  ]
  for (const one of made) expect(() => badRequestOf(one)).toThrow('declares no request')
})

it.each(routes)('the bad request of $method $path gets a declared error', (declared) => {
  const { errors = [], auth } = declared
  const refused = badRequestOf(declared)
  const all: string[] = ['invalid_request', ...errors]
  if (auth) all.push('unauthorized')
  if (refused) expect(all).toContain(refused.error)
})
