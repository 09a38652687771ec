import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BODY_DEPTH_LIMIT, parseBody } from './body.js'
import { ApiError } from './errors.js'

const parse = (text: string) => parseBody(Buffer.from(text))

describe('parseBody', () => {
  it('reads what JSON.parse reads, down to the depth limit', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (json) => {
        expect(parse(json)).toEqual(JSON.parse(json))
      }),
    )
    const nested = (levels: number) => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`
    expect(() => parse(nested(BODY_DEPTH_LIMIT))).not.toThrow()
    expect(() => parse(nested(BODY_DEPTH_LIMIT + 2))).toThrow(/deeper/)
  })

  it('counts no bracket inside a string, whatever is escaped there', () => {
    const text = fc.string({ unit: fc.constantFrom('[', '{', '"', '\\', 'é', '\n'), maxLength: 200 })
    fc.assert(
      fc.property(text, (value) => {
        expect(parse(JSON.stringify([value]))).toEqual([value])
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
