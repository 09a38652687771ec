import fc from 'fast-check'
import { encodePacked, type Hex, IntegerOutOfRangeError } from 'viem'
import { describe, expect, it } from 'vitest'
import { decodeLzReceiveOption, encodeLzReceiveOption } from './packetOptions.js'

const uint128Arbitrary = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n })
/** Encoded as LayerZero's OptionsBuilder does. */
const optionsAsBuilt = (gas: bigint, value: bigint): Hex =>
  encodePacked(
    ['uint16', 'uint8', 'uint16', 'uint8', 'uint128', 'uint128'],
    [3, 1, 33, 1, gas, value],
  )

describe('options', () => {
  it('have the bytes of OptionsBuilder', () => {
    expect(encodeLzReceiveOption({ gas: 200_000n, value: 10n ** 16n })).toBe(
      optionsAsBuilt(200_000n, 10n ** 16n),
    )
    expect(encodeLzReceiveOption({ gas: 200_000n, value: 10n ** 16n })).toBe(
      '0x0003010021010000000000000000000000000003 0d400000000000000000002386f26fc10000'.replaceAll(
        ' ',
        '',
      ),
    )
    expect(encodeLzReceiveOption({ gas: 200_000n, value: 0n })).toBe(
      '0x00030100110100000000000000000000000000030d40',
    )
  })

  it('come back, whether a zero value is written or left out', () => {
    fc.assert(
      fc.property(uint128Arbitrary, fc.oneof(uint128Arbitrary, fc.constant(0n)), (gas, value) => {
        expect(decodeLzReceiveOption(encodeLzReceiveOption({ gas, value }))).toEqual({ gas, value })
        expect(decodeLzReceiveOption(optionsAsBuilt(gas, value))).toEqual({ gas, value })
      }),
    )
  })

  it('are refused of more than 128 bits', () => {
    expect(() => encodeLzReceiveOption({ gas: 2n ** 128n, value: 0n })).toThrow(
      IntegerOutOfRangeError,
    )
    expect(() => encodeLzReceiveOption({ gas: 0n, value: -1n })).toThrow(IntegerOutOfRangeError)
  })

  const one = optionsAsBuilt(200_000n, 5n)
  it.each<[string, Hex]>([
    ['nothing', '0x'],
    ['a type alone', '0x0003'],
    ['legacy type 1', encodePacked(['uint16', 'uint256'], [1, 200_000n])],
    [
      'legacy type 2',
      encodePacked(
        ['uint16', 'uint256', 'uint256', 'bytes32'],
        [2, 200_000n, 5n, `0x${'11'.repeat(32)}`],
      ),
    ],
    ['two lzReceive options, which an executor would add up', `${one}${one.slice(6)}`],
    ['a trailing byte', `${one}00`],
    ['a missing byte', one.slice(0, -2) as Hex],
    ['half a byte', `${one}0`],
    ['no hex', `${one.slice(0, -2)}zz` as Hex],
    ['a verifier option', one.replace('0x000301', '0x000302') as Hex],
    [
      'a native drop',
      encodePacked(
        ['uint16', 'uint8', 'uint16', 'uint8', 'uint128', 'bytes32'],
        [3, 1, 49, 2, 1n, `0x${'11'.repeat(32)}`],
      ),
    ],
    [
      'a native drop of lzReceive size',
      encodePacked(
        ['uint16', 'uint8', 'uint16', 'uint8', 'uint128', 'uint128'],
        [3, 1, 33, 2, 1n, 1n],
      ),
    ],
    [
      'a size that does not fit',
      encodePacked(
        ['uint16', 'uint8', 'uint16', 'uint8', 'uint128', 'uint128'],
        [3, 1, 32, 1, 1n, 1n],
      ),
    ],
    [
      'gas of 64 bits',
      encodePacked(['uint16', 'uint8', 'uint16', 'uint8', 'uint64'], [3, 1, 9, 1, 1n]),
    ],
    ['an lzReceive and an ordered execution option', `${one}01000104`],
  ])('are not understood: %s', (_, options) => {
    expect(decodeLzReceiveOption(options)).toBeNull()
  })

  it('are not read from bytes that mean something else', () => {
    const any = fc
      .uint8Array({ maxLength: 60 })
      .map((b): Hex => `0x${Buffer.from(b).toString('hex')}`)
    const near = fc
      .tuple(uint128Arbitrary, uint128Arbitrary, fc.nat(37), fc.nat(255))
      .map(([gas, value, at, byte]): Hex => {
        const bytes = Buffer.from(optionsAsBuilt(gas, value).slice(2), 'hex')
        bytes[at] = byte
        return `0x${bytes.toString('hex')}`
      })
    fc.assert(
      fc.property(fc.oneof(any, near), (options) => {
        const option = decodeLzReceiveOption(options)
        if (option)
          expect([
            encodeLzReceiveOption(option),
            optionsAsBuilt(option.gas, option.value),
          ]).toContain(options)
      }),
      { numRuns: 500 },
    )
  })
})
