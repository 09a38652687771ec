import { describe, expect, it } from 'vitest'
import { BridgeError, ChainUnavailableError } from '../../chains/chain.js'
import { ApiError, errorAnswer, toApiError } from './errors.js'

const withCode = (code: string, message = 'x') => Object.assign(new Error(message), { code })

describe('toApiError', () => {
  it('sorts what was thrown', () => {
    const codeOf = (error: unknown) => toApiError(error).code
    expect(codeOf(new BridgeError('x'))).toBe('bridge_failure')
    expect(codeOf(new ChainUnavailableError('x'))).toBe('unavailable')
    for (const code of ['57P01', '53300', '08006', '57014', 'ECONNREFUSED', 'P1001', 'P2034'])
      expect(codeOf(withCode(code))).toBe('unavailable')
    expect(codeOf(new AggregateError([withCode('ECONNREFUSED')]))).toBe('unavailable')
    expect(codeOf(new Error('wrapped', { cause: withCode('57P03') }))).toBe('unavailable')
    expect(codeOf(new Error('Connection terminated unexpectedly'))).toBe('unavailable')
    for (const bug of [withCode('42P01'), new TypeError('x'), 'text', null, undefined])
      expect(codeOf(bug)).toBe('internal')
  })

  it('tells the caller nothing about a bug of ours', () => {
    const { content } = errorAnswer(toApiError(new Error('postgresql://user:password@host/')))
    expect(JSON.parse(String(content.text))).toEqual({
      status: 500,
      error: 'internal',
      message: 'Something went wrong on our side.',
    })
  })
})

describe('errorAnswer', () => {
  it('is the envelope, with what else the caller can use', () => {
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
