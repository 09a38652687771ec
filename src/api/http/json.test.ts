import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Json, jsonText } from './json.js'

describe('jsonText', () => {
  it('writes what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(jsonText(value as Json)).toBe(JSON.stringify(value))
      }),
    )
    expect(jsonText({ a: undefined, b: 1 })).toBe('{"b":1}')
  })

  it('writes integers of any size with all their digits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n }), (value) => {
        expect(jsonText({ data: [value] })).toBe(`{"data":[${value}]}`)
      }),
    )
  })
})
