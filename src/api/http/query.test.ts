import { describe, expect, it } from 'vitest'
import { ApiError } from './errors.js'
import { enumParameter, parseQuery, wholeNumberParameter } from './query.js'

describe('parseQuery', () => {
  const query = parseQuery('/x?a=1&b=&c=undefined&d=&d=2&e=1&e=2&f')

  it('returns a value, also after an empty one', () => {
    expect([query.get('a'), query.get('d')]).toEqual(['1', '2'])
  })

  it.each(['b', 'c', 'f', 'g'])('treats empty and "undefined" as absent: %s', (name) => {
    expect(query.get(name)).toBeUndefined()
  })

  it('refuses a repeated parameter', () => {
    expect(() => query.get('e')).toThrow(ApiError)
  })

  it.each(['/x', '/x?'])('finds nothing in %s', (url) => {
    expect(parseQuery(url).get('a')).toBeUndefined()
  })
})

describe('wholeNumberParameter', () => {
  const read = (text: string) =>
    wholeNumberParameter(parseQuery(`/x?n=${encodeURIComponent(text)}`), 'n')

  it('reads whole numbers of any length', () => {
    expect(read('0')).toBe(0)
    expect(read('1795161600123')).toBe(1_795_161_600_123)
    expect(read('9'.repeat(40))).toBe(Number.MAX_SAFE_INTEGER)
    expect(wholeNumberParameter(parseQuery('/x'), 'n')).toBeUndefined()
  })

  it.each(['-1', '+1', '1.0', '1e3', '0x1', ' 1', '１', '9'.repeat(500)])('refuses "%s"', (odd) => {
    expect(() => read(odd)).toThrow(ApiError)
  })
})

describe('enumParameter', () => {
  const read = (text: string) =>
    enumParameter(parseQuery(`/x?w=${text}`), 'w', ['up', 'down'] as const)

  it('returns an allowed value', () => {
    expect(read('up')).toBe('up')
    expect(read('')).toBeUndefined()
  })

  it.each(['UP', 'toString', 'u'])('refuses %s, which is not allowed', (odd) => {
    expect(() => read(odd)).toThrow('has to be one of up, down')
  })
})
