import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseBody } from './body.js'
import { ApiError } from './errors.js'

const parse = (text: string) => parseBody(Buffer.from(text))

describe('parseBody', () => {
  it('reads what JSON.parse reads', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (json) => {
        expect(parse(json)).toEqual(JSON.parse(json))
      }),
    )
  })

  it('takes blank for no body and refuses the rest in one way', () => {
    expect([parse(''), parse(' \n\t')]).toEqual([undefined, undefined])
    for (const bad of ['{', 'undefined', '"', '\\', ']]]][', 'NaN', '1 2']) expect(() => parse(bad)).toThrow(ApiError)
    expect(() => parseBody(Buffer.from([0x22, 0xc3, 0x22]))).toThrow('The body is not JSON.')
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        try {
          parseBody(bytes)
        } catch (error) {
          expect(error).toBeInstanceOf(ApiError)
        }
      }),
    )
  })
})
