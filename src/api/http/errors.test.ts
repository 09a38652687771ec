import { describe, expect, it } from 'vitest'
import { BridgeError, ChainUnavailableError } from '../../chains/chain.js'
import { ApiError, errorAnswer, toApiError } from './errors.js'

const errorWithCode = (code: string, message = 'x') => Object.assign(new Error(message), { code })

describe('toApiError', () => {
  const ENDED = new Error('Connection terminated unexpectedly')

  it.each<[name: string, thrown: unknown, code: string]>([
    ['a failure of the bridge', new BridgeError('x'), 'bridge_failure'],
    ['a chain that is away', new ChainUnavailableError('x'), 'unavailable'],
    ['57P01', errorWithCode('57P01'), 'unavailable'],
    ['53300', errorWithCode('53300'), 'unavailable'],
    ['08006', errorWithCode('08006'), 'unavailable'],
    ['57014', errorWithCode('57014'), 'unavailable'],
    ['ECONNREFUSED', errorWithCode('ECONNREFUSED'), 'unavailable'],
    ['ECONNREFUSED of many', new AggregateError([errorWithCode('ECONNREFUSED')]), 'unavailable'],
    ['57P03, wrapped', new Error('wrapped', { cause: errorWithCode('57P03') }), 'unavailable'],
    ['a connection that ended', ENDED, 'unavailable'],
    ['42P01, a table that is missing', errorWithCode('42P01'), 'internal'],
    ['a TypeError', new TypeError('x'), 'internal'],
    ['a text', 'text', 'internal'],
    ['null', null, 'internal'],
    ['undefined', undefined, 'internal'],
  ])('sorts %s', (_, thrown, code) => {
    expect(toApiError(thrown).code).toBe(code)
  })

  it('reveals nothing about a bug to the caller', () => {
    const { content } = errorAnswer(toApiError(new Error('postgresql://user:password@host/')))
    expect(JSON.parse(String(content.text))).toEqual({
      status: 500,
      error: 'internal',
      message: 'Something went wrong on our side.',
    })
  })
})

describe('errorAnswer', () => {
  it('has the envelope, and further fields for the caller', () => {
    const error = new ApiError('names_unavailable', '1 or more names are unavailable', {
      names: ['foo'],
    })
    const { status, content, headers } = errorAnswer(error)
    expect([status, headers]).toEqual([409, undefined])
    const body = {
      status: 409,
      error: 'names_unavailable',
      message: '1 or more names are unavailable',
      names: ['foo'],
    }
    expect(JSON.parse(String(content.text))).toEqual(body)
    expect(errorAnswer(new ApiError('unavailable', 'x')).headers).toHaveProperty('retry-after')
  })
})
