import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { encodeAbiParameters } from 'viem'
import { describe, expect, it } from 'vitest'
import { addressOfWord } from '../primitives/address.js'
import { fromHex, toHex } from '../primitives/bytes.js'
import { NAME_MAX_BYTES, nameToWord, wordToName } from '../primitives/name.js'
import { bidNameWord, bidTxHash, decideBid, decodeBid, OUTCOME, REFUSAL } from './bid.js'

const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex)
const nameWord = fc.oneof(
  word,
  fc.constantFrom('foo', 'x'.repeat(NAME_MAX_BYTES)).map((name) => toHex(nameToWord(name))),
)
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

describe('the body of a bid', () => {
  it('is the transaction hash and the data of either event', () => {
    fc.assert(
      fc.property(word, word, uint256, nameWord, fc.option(word), (txHash, from, amount, name, referral) => {
        const data = referral
          ? encodeAbiParameters(
              [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'bytes32' }, { type: 'bytes32' }],
              [from, amount, name, referral],
            )
          : encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }, { type: 'bytes32' }], [from, amount, name])
        const body = Buffer.concat([fromHex(txHash), fromHex(data)])
        expect(decodeBid(body)).toEqual({
          kind: 'bid',
          wallet: addressOfWord(fromHex(from)),
          amountWei: amount,
          name: wordToName(fromHex(name)),
        })
        expect(toHex(bidTxHash(body))).toBe(txHash)
        expect(toHex(bidNameWord(body))).toBe(name)
      }),
    )
  })

  it.each([0, 96, 127, 129, 159, 161, 192])('is refused with %d bytes', (length) => {
    expect(() => decodeBid(Buffer.alloc(length))).toThrow(RangeError)
    expect(() => decodeBid(Buffer.alloc(length))).toThrow(`a bid's body has 128 or 160 bytes, not ${length}`)
  })
})

describe('decideBid', () => {
  const free = () => false
  const taken = () => true

  it('lets the first bid of at least the minimum win', () => {
    expect(decideBid({ amountWei: 10n, name: 'foo' }, 10n, free)).toEqual({ outcome: 'won', name: 'foo' })
    expect(decideBid({ amountWei: 10n, name: 'foo' }, 10n, taken)).toEqual({ outcome: 'lost', name: 'foo' })
    expect(decideBid({ amountWei: 0n, name: 'foo' }, 0n, free)).toEqual({ outcome: 'won', name: 'foo' })
  })

  it('refuses a malformed name before a small amount, and either before asking who owns it', () => {
    const never = () => {
      throw new Error('asked')
    }
    expect(decideBid({ amountWei: 9n, name: null }, 10n, never)).toEqual({
      outcome: 'refused',
      name: null,
      reason: 'malformed_name',
    })
    expect(decideBid({ amountWei: 9n, name: 'foo' }, 10n, never)).toEqual({
      outcome: 'refused',
      name: 'foo',
      reason: 'below_minimum',
    })
  })
})

describe('stored codes', () => {
  it('are never renumbered', () => {
    expect(OUTCOME).toEqual({ won: 1, lost: 2, refused: 3 })
    expect(REFUSAL).toEqual({ malformed_name: 1, below_minimum: 2 })
  })

  it('of refusals are those of the hub contract', () => {
    const source = readFileSync(new URL('../../../contracts/evm/src/Hub.sol', import.meta.url), 'utf8')
    const constants = [...source.matchAll(/uint8 private constant (\w+) = (\d+);/g)].map(([, name, code]) => [
      name!.toLowerCase(),
      Number(code),
    ])
    expect(Object.fromEntries(constants)).toEqual({ not_refused: 0, ...REFUSAL })
  })
})
