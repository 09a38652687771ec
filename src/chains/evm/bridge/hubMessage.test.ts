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

const abi = parseAbi([
  'function placeBids(uint256[] amounts, bytes32[] names)',
  'function placeBids(uint256[] amounts, bytes32[] names, bytes32 referral)',
  'function placeBid(bytes32 name)',
  'function placeBid(bytes32 name, bytes32 referral)',
  'function withdrawRefund(address to)',
])
const ZERO = `0x${'00'.repeat(32)}` as const
const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex)
const wei = fc.bigInt({ min: 0n, max: 2n ** 200n })
const bids = fc.array(fc.tuple(wei, word), { minLength: 1, maxLength: 5 })
const decode = (calldata: Hex): HubCall => decodeHubCalldata(fromHex(calldata))
const UNDECODABLE = { kind: 'undecodable' }

/** Calldata of `placeBids` from raw words. */
const raw = (selector: string, ...words: (bigint | Hex)[]): Hex =>
  `${selector}${words.map((w) => (typeof w === 'bigint' ? bigIntToWord(w).toString('hex') : w.slice(2))).join('')}` as Hex
const PLACE_BIDS = '0x40bee835'
const WITH_REFERRAL = '0xfdad12fd'
const NAME = `0x${Buffer.from('foo'.padEnd(32, '\0')).toString('hex')}` as const

describe('hub calldata', () => {
  it('of placeBids comes back in both forms', () => {
    fc.assert(
      fc.property(bids, fc.option(word), (list, referral) => {
        const amounts = list.map(([amount]) => amount)
        const names = list.map(([, name]) => name)
        const calldata = referral
          ? encodeFunctionData({ abi, functionName: 'placeBids', args: [amounts, names, referral] })
          : encodeFunctionData({ abi, functionName: 'placeBids', args: [amounts, names] })
        expect(calldata.slice(0, 10)).toBe(referral ? WITH_REFERRAL : PLACE_BIDS)
        expect(decode(calldata)).toEqual({ kind: 'bids', amountsWei: amounts, nameWords: names })
      }),
    )
  })

  it('of placeBid is refused by the hub in both forms', () => {
    expect(decode(encodeFunctionData({ abi, functionName: 'placeBid', args: [NAME] }))).toEqual(
      UNDECODABLE,
    )
    expect(
      decode(encodeFunctionData({ abi, functionName: 'placeBid', args: [NAME, NAME] })),
    ).toEqual(UNDECODABLE)
  })

  it('of withdrawRefund names an address', () => {
    const to = `0x${'ab'.repeat(20)}` as const
    const calldata = encodeFunctionData({ abi, functionName: 'withdrawRefund', args: [to] })
    expect(decode(calldata)).toEqual({ kind: 'withdrawal' })
    expect(decode(`${calldata}00`)).toEqual({ kind: 'withdrawal' })
    expect(decode(calldata.slice(0, -2) as Hex)).toEqual(UNDECODABLE)
    for (let i = 0; i < 12; i++) {
      const bytes = fromHex(calldata)
      bytes[4 + i] = 1
      expect(decodeHubCalldata(bytes)).toEqual(UNDECODABLE)
    }
  })

  it.each<[string, Hex]>([
    ['nothing', '0x'],
    ['part of a selector', '0x40bee8'],
    ['an unknown selector', '0xdeadbeef'],
    ['a selector alone', PLACE_BIDS],
    ['empty arrays', raw(PLACE_BIDS, 64n, 96n, 0n, 0n)],
    ['fewer names than amounts', raw(PLACE_BIDS, 64n, 160n, 2n, 1n, 1n, 1n, NAME)],
    ['an offset beyond the data', raw(PLACE_BIDS, 64n, 1_000n, 1n, 1n, 1n, NAME)],
    ['an offset of 2^256 - 1', raw(PLACE_BIDS, 64n, 2n ** 256n - 1n, 1n, 1n, 1n, NAME)],
    ['an offset that wraps round', raw(PLACE_BIDS, 64n, 2n ** 256n - 32n, 1n, 1n, 1n, NAME)],
    ['a length of 2^255', raw(PLACE_BIDS, 64n, 128n, 2n ** 255n, 1n, 2n ** 255n, NAME)],
    ['a length one element too long', raw(PLACE_BIDS, 64n, 128n, 2n, 1n, 2n, NAME)],
    ['a sum of 2^256', raw(PLACE_BIDS, 64n, 160n, 2n, 2n ** 255n, 2n ** 255n, 2n, NAME, NAME)],
    ['a last word cut short', raw(PLACE_BIDS, 64n, 128n, 1n, 1n, 1n, NAME).slice(0, -2) as Hex],
    ['a missing referral', raw(WITH_REFERRAL, 0n, 0n)],
  ])('is undecodable: %s', (_, calldata) => {
    expect(decode(calldata)).toEqual(UNDECODABLE)
  })

  it('takes offsets and trailing bytes that the Solidity decoder takes', () => {
    const plain = { kind: 'bids', amountsWei: [7n], nameWords: [NAME] }
    expect(decode(raw(PLACE_BIDS, 64n, 128n, 1n, 7n, 1n, NAME))).toEqual(plain)
    // names before amounts, a gap between, trailing bytes
    expect(decode(raw(PLACE_BIDS, 160n, 64n, 1n, NAME, 99n, 1n, 7n))).toEqual(plain)
    expect(decode(`${raw(PLACE_BIDS, 64n, 128n, 1n, 7n, 1n, NAME)}ffff`)).toEqual(plain)
    // one array for both
    expect(decode(raw(PLACE_BIDS, 64n, 64n, 1n, 7n))).toEqual({
      ...plain,
      nameWords: [toHex(bigIntToWord(7n))],
    })
    // an offset that is no multiple of 32
    expect(
      decode(`${raw(PLACE_BIDS, 65n, 129n)}00${raw('0x', 1n, 7n, 1n, NAME).slice(2)}`),
    ).toEqual(plain)
    // offsets that point at the offsets themselves: arrays of length 0
    expect(decode(raw(PLACE_BIDS, 0n, 0n))).toEqual(UNDECODABLE)
  })

  it('takes 100 names, not 101', () => {
    const of = (n: number) =>
      encodeFunctionData({
        abi,
        functionName: 'placeBids',
        args: [Array(n).fill(1n), Array(n).fill(NAME)],
      })
    expect(decode(of(MAX_BIDS_PER_MESSAGE))).toMatchObject({ kind: 'bids' })
    expect(decode(of(MAX_BIDS_PER_MESSAGE + 1))).toEqual(UNDECODABLE)
  })
})

describe('bridge messages', () => {
  const sender = `0x${'00'.repeat(12)}${'cd'.repeat(20)}` as const
  const calldata = encodeFunctionData({ abi, functionName: 'placeBids', args: [[5n], [NAME]] })

  it('come back with their call', () => {
    const call = { kind: 'bids', amountsWei: [5n], nameWords: [NAME] }
    expect(decodeHubMessage(fromHex(encodeHubMessage(sender, calldata)))).toEqual(call)
  })

  it('without a sender are undecodable, since nobody could be credited a name', () => {
    expect(decodeHubMessage(fromHex(encodeHubMessage(ZERO, calldata)))).toEqual(UNDECODABLE)
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
