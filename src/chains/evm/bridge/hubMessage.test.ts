import fc from 'fast-check'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { bigIntToWord, fromHex, toHex } from '../../../registry/primitives/bytes.js'
import {
  decodeHubCalldata,
  decodeHubMessage,
  encodeHubMessage,
  type HubCall,
  MAX_BIDS_PER_MESSAGE,
} from './hubMessage.js'

const hubCallsAbi = parseAbi([
  'function placeBids(uint256[] amounts, bytes32[] names)',
  'function placeBids(uint256[] amounts, bytes32[] names, bytes32 referral)',
  'function placeBid(bytes32 name)',
  'function placeBid(bytes32 name, bytes32 referral)',
  'function withdrawRefund(address to)',
])
const ZERO_WORD = `0x${'00'.repeat(32)}` as const
const wordArbitrary = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex)
const weiArbitrary = fc.bigInt({ min: 0n, max: 2n ** 200n })
const bidsArbitrary = fc.array(fc.tuple(weiArbitrary, wordArbitrary), {
  minLength: 1,
  maxLength: 5,
})
const decodeCall = (calldata: Hex): HubCall => decodeHubCalldata(fromHex(calldata))
const UNDECODABLE_CALL = { kind: 'undecodable' }

/** Calldata of `placeBids` from raw words. */
const calldataOfWords = (selector: string, ...words: (bigint | Hex)[]): Hex =>
  `${selector}${words.map((w) => (typeof w === 'bigint' ? bigIntToWord(w).toString('hex') : w.slice(2))).join('')}` as Hex
const PLACE_BIDS_SELECTOR = '0x40bee835'
const PLACE_BIDS_WITH_REFERRAL_SELECTOR = '0xfdad12fd'
const NAME_WORD = `0x${Buffer.from('foo'.padEnd(32, '\0')).toString('hex')}` as const

describe('hub calldata', () => {
  it('of placeBids comes back in both forms', () => {
    fc.assert(
      fc.property(bidsArbitrary, fc.option(wordArbitrary), (list, referral) => {
        const amounts = list.map(([amount]) => amount)
        const names = list.map(([, name]) => name)
        const calldata = referral
          ? encodeFunctionData({
              abi: hubCallsAbi,
              functionName: 'placeBids',
              args: [amounts, names, referral],
            })
          : encodeFunctionData({
              abi: hubCallsAbi,
              functionName: 'placeBids',
              args: [amounts, names],
            })
        expect(calldata.slice(0, 10)).toBe(
          referral ? PLACE_BIDS_WITH_REFERRAL_SELECTOR : PLACE_BIDS_SELECTOR,
        )
        expect(decodeCall(calldata)).toEqual({
          kind: 'bids',
          amountsWei: amounts,
          nameWords: names,
        })
      }),
    )
  })

  it('of placeBid is refused by the hub in both forms', () => {
    expect(
      decodeCall(
        encodeFunctionData({ abi: hubCallsAbi, functionName: 'placeBid', args: [NAME_WORD] }),
      ),
    ).toEqual(UNDECODABLE_CALL)
    expect(
      decodeCall(
        encodeFunctionData({
          abi: hubCallsAbi,
          functionName: 'placeBid',
          args: [NAME_WORD, NAME_WORD],
        }),
      ),
    ).toEqual(UNDECODABLE_CALL)
  })

  it('of withdrawRefund names an address', () => {
    const to = `0x${'ab'.repeat(20)}` as const
    const calldata = encodeFunctionData({
      abi: hubCallsAbi,
      functionName: 'withdrawRefund',
      args: [to],
    })
    expect(decodeCall(calldata)).toEqual({ kind: 'withdrawal' })
    expect(decodeCall(`${calldata}00`)).toEqual({ kind: 'withdrawal' })
    expect(decodeCall(calldata.slice(0, -2) as Hex)).toEqual(UNDECODABLE_CALL)
    for (let i = 0; i < 12; i++) {
      const bytes = fromHex(calldata)
      bytes[4 + i] = 1
      expect(decodeHubCalldata(bytes)).toEqual(UNDECODABLE_CALL)
    }
  })

  it.each<[string, Hex]>([
    ['nothing', '0x'],
    ['part of a selector', '0x40bee8'],
    ['an unknown selector', '0xdeadbeef'],
    ['a selector alone', PLACE_BIDS_SELECTOR],
    ['empty arrays', calldataOfWords(PLACE_BIDS_SELECTOR, 64n, 96n, 0n, 0n)],
    [
      'fewer names than amounts',
      calldataOfWords(PLACE_BIDS_SELECTOR, 64n, 160n, 2n, 1n, 1n, 1n, NAME_WORD),
    ],
    [
      'an offset beyond the data',
      calldataOfWords(PLACE_BIDS_SELECTOR, 64n, 1_000n, 1n, 1n, 1n, NAME_WORD),
    ],
    [
      'an offset of 2^256 - 1',
      calldataOfWords(PLACE_BIDS_SELECTOR, 64n, 2n ** 256n - 1n, 1n, 1n, 1n, NAME_WORD),
    ],
    [
      'an offset that wraps round',
      calldataOfWords(PLACE_BIDS_SELECTOR, 64n, 2n ** 256n - 32n, 1n, 1n, 1n, NAME_WORD),
    ],
    [
      'a length of 2^255',
      calldataOfWords(PLACE_BIDS_SELECTOR, 64n, 128n, 2n ** 255n, 1n, 2n ** 255n, NAME_WORD),
    ],
    [
      'a length one element too long',
      calldataOfWords(PLACE_BIDS_SELECTOR, 64n, 128n, 2n, 1n, 2n, NAME_WORD),
    ],
    [
      'a sum of 2^256',
      calldataOfWords(
        PLACE_BIDS_SELECTOR,
        64n,
        160n,
        2n,
        2n ** 255n,
        2n ** 255n,
        2n,
        NAME_WORD,
        NAME_WORD,
      ),
    ],
    [
      'a last word cut short',
      calldataOfWords(PLACE_BIDS_SELECTOR, 64n, 128n, 1n, 1n, 1n, NAME_WORD).slice(0, -2) as Hex,
    ],
    ['a missing referral', calldataOfWords(PLACE_BIDS_WITH_REFERRAL_SELECTOR, 0n, 0n)],
  ])('is undecodable: %s', (_, calldata) => {
    expect(decodeCall(calldata)).toEqual(UNDECODABLE_CALL)
  })

  it('takes offsets and trailing bytes that the Solidity decoder takes', () => {
    const plain = { kind: 'bids', amountsWei: [7n], nameWords: [NAME_WORD] }
    expect(
      decodeCall(calldataOfWords(PLACE_BIDS_SELECTOR, 64n, 128n, 1n, 7n, 1n, NAME_WORD)),
    ).toEqual(plain)
    // names before amounts, a gap between, trailing bytes
    expect(
      decodeCall(calldataOfWords(PLACE_BIDS_SELECTOR, 160n, 64n, 1n, NAME_WORD, 99n, 1n, 7n)),
    ).toEqual(plain)
    expect(
      decodeCall(`${calldataOfWords(PLACE_BIDS_SELECTOR, 64n, 128n, 1n, 7n, 1n, NAME_WORD)}ffff`),
    ).toEqual(plain)
    // one array for both
    expect(decodeCall(calldataOfWords(PLACE_BIDS_SELECTOR, 64n, 64n, 1n, 7n))).toEqual({
      ...plain,
      nameWords: [toHex(bigIntToWord(7n))],
    })
    // an offset that is no multiple of 32
    expect(
      decodeCall(
        `${calldataOfWords(PLACE_BIDS_SELECTOR, 65n, 129n)}00${calldataOfWords('0x', 1n, 7n, 1n, NAME_WORD).slice(2)}`,
      ),
    ).toEqual(plain)
    // offsets that point at the offsets themselves: arrays of length 0
    expect(decodeCall(calldataOfWords(PLACE_BIDS_SELECTOR, 0n, 0n))).toEqual(UNDECODABLE_CALL)
  })

  it('takes 100 names, not 101', () => {
    const of = (n: number) =>
      encodeFunctionData({
        abi: hubCallsAbi,
        functionName: 'placeBids',
        args: [Array(n).fill(1n), Array(n).fill(NAME_WORD)],
      })
    expect(decodeCall(of(MAX_BIDS_PER_MESSAGE))).toMatchObject({ kind: 'bids' })
    expect(decodeCall(of(MAX_BIDS_PER_MESSAGE + 1))).toEqual(UNDECODABLE_CALL)
  })
})

describe('bridge messages', () => {
  const sender = `0x${'00'.repeat(12)}${'cd'.repeat(20)}` as const
  const calldata = encodeFunctionData({
    abi: hubCallsAbi,
    functionName: 'placeBids',
    args: [[5n], [NAME_WORD]],
  })

  it('come back with their call', () => {
    const call = { kind: 'bids', amountsWei: [5n], nameWords: [NAME_WORD] }
    expect(decodeHubMessage(fromHex(encodeHubMessage(sender, calldata)))).toEqual(call)
  })

  it('without a sender are undecodable, since nobody could be credited a name', () => {
    expect(decodeHubMessage(fromHex(encodeHubMessage(ZERO_WORD, calldata)))).toEqual(
      UNDECODABLE_CALL,
    )
  })

  it('cut anywhere are undecodable', () => {
    const whole = fromHex(encodeHubMessage(sender, calldata))
    // padding of the calldata to a word is optional
    const padding = (32 - ((calldata.length / 2 - 1) % 32)) % 32
    for (let length = 0; length < whole.length; length++) {
      const { kind } = decodeHubMessage(whole.subarray(0, length))
      expect(kind, `${length} bytes`).toBe(length < whole.length - padding ? 'undecodable' : 'bids')
    }
  })
})
