import { describe, expect, it } from 'vitest'
import { asciiCodec, constantCodec, decodeValue, encodeValue, nullableCodec, u64 } from './codec.js'

describe('bytes that a codec did not write', () => {
  const read = (hex: string) => () => decodeValue(asciiCodec, 1, Buffer.from(hex, 'hex'))

  it('throw an error that names the fault', () => {
    expect(read('01046d61')).toThrow('0x01046d61 is cut short')
    expect(read('')).toThrow('0x is cut short')
    expect(read('010161ff')).toThrow('0x010161ff goes on behind its end')
    expect(read('020161')).toThrow('bytes of version 2 are read as version 1')
    expect(() => decodeValue(u64, 1, Buffer.from('010020000000000000', 'hex'))).toThrow(
      '9007199254740992 is no safe integer',
    )
  })

  it('may be of a newer version, which the error mentions', () => {
    const codec = constantCodec([['old', 1]])
    expect(() => decodeValue(codec, 1, Buffer.of(1, 2))).toThrow(
      'code 2 is unknown: was the journal written by a newer version?',
    )
  })
})

it.each([
  [0, '0000000000000000'],
  [0x0102_0304, '0000000001020304'],
  [Number.MAX_SAFE_INTEGER, '001fffffffffffff'],
  [0xfedc_ba98, '00000000fedcba98'],
])('a number is eight bytes, big-endian: %d is %s', (value, hex) => {
  expect(encodeValue(u64, 1, value).toString('hex')).toBe(`01${hex}`)
  expect(decodeValue(u64, 1, Buffer.from(`01${hex}`, 'hex'))).toBe(value)
})

it('a nullable value has a flag before it', () => {
  const codec = nullableCodec(asciiCodec)
  expect(encodeValue(codec, 1, null).toString('hex')).toBe('0100')
  expect(encodeValue(codec, 1, 'a').toString('hex')).toBe('01010161')
  expect(decodeValue(codec, 1, Buffer.from('0100', 'hex'))).toBeNull()
})
