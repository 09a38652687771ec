import { describe, expect, it } from 'vitest'
import { ApiError } from './errors.js'
import { integerOf, parseQuery, wordOf } from './query.js'

describe('parseQuery', () => {
  it('takes empty and "undefined" for absent, and refuses what is given twice', () => {
    const query = parseQuery('/x?a=1&b=&c=undefined&d=&d=2&e=1&e=2&f')
    expect([query.get('a'), query.get('d')]).toEqual(['1', '2'])
    for (const name of ['b', 'c', 'f', 'g']) expect(query.get(name)).toBeUndefined()
    expect(() => query.get('e')).toThrow(ApiError)
    expect(parseQuery('/x').get('a')).toBeUndefined()
    expect(parseQuery('/x?').get('a')).toBeUndefined()
  })
})

describe('integerOf', () => {
  it('reads whole numbers of any length and nothing else', () => {
    const read = (text: string) => integerOf(parseQuery(`/x?n=${encodeURIComponent(text)}`), 'n')
    expect(read('0')).toBe(0)
    expect(read('1795161600123')).toBe(1_795_161_600_123)
    expect(read('9'.repeat(40))).toBe(Number.MAX_SAFE_INTEGER)
    expect(integerOf(parseQuery('/x'), 'n')).toBeUndefined()
    for (const odd of ['-1', '+1', '1.0', '1e3', '0x1', ' 1', '１', '9'.repeat(500)])
      expect(() => read(odd)).toThrow(ApiError)
  })
})

describe('wordOf', () => {
  it('reads one of the words', () => {
    const read = (text: string) => wordOf(parseQuery(`/x?w=${text}`), 'w', ['up', 'down'] as const)
    expect(read('up')).toBe('up')
    expect(read('')).toBeUndefined()
    for (const odd of ['UP', 'toString', 'u']) expect(() => read(odd)).toThrow('none of up, down')
  })
})
