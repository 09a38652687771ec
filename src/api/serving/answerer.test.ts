import { pino } from 'pino'
import { expect, it } from 'vitest'
import { serve } from '../../../test/support/httpServer.js'
import { ChainBusyError, ChainUnavailableError } from '../../chains/chain.js'
import { toHttpMessage } from '../http/answer.js'
import { errorAnswer, toApiError } from '../http/errors.js'
import { createResponseSender } from './answerer.js'

it.each<[what: string, thrown: Error, status: number, isReported: boolean, isFailure: boolean]>([
  ['an error of our own code', new TypeError('a mistake'), 500, true, true],
  ['a chain that is away', new ChainUnavailableError('chain "1"'), 503, false, true],
  ['a chain for which too many requests wait', new ChainBusyError('a node'), 503, false, false],
])('%s', async (_, thrown, status, isReported, isFailure) => {
  const reported: unknown[] = []
  const failures: unknown[] = []
  const finish = createResponseSender({
    log: pino({ level: 'silent' }),
    onInternalError: (error, about) => void reported.push({ error, about }),
    failed: { count: (_route, failure) => void failures.push(failure) },
  })
  const server = await serve((req, res) => {
    const error = toApiError(thrown)
    const caller = { address: '127.0.0.1', id: 'of-the-proxy', trace: undefined }
    const exchange = { req, res, route: '/v1/names', params: {}, startedMs: 0, ...caller }
    finish(exchange, toHttpMessage(errorAnswer(error)), [], error)
  })
  const response = await fetch(server.url)
  await server.stop()
  expect(response.status).toBe(status)
  expect(response.headers.get('retry-after')).toBe(status === 503 ? '2' : null)
  expect(failures).toEqual([isFailure ? thrown : undefined])
  const id = response.headers.get('x-request-id')
  expect(id).toBe('of-the-proxy')
  const about = { id, method: 'GET', route: '/v1/names' }
  expect(reported).toEqual(isReported ? [{ error: thrown, about }] : [])
})
