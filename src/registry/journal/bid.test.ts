import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { encodeAbiParameters } from 'viem'
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../primitives/bytes.js'
import { nameToWord } from '../primitives/name.js'
import { decodeBid, judgeBid, OUTCOME, REFUSAL } from './bid.js'

const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex)
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

describe('the body of a bid', () => {
  it('is the transaction hash and the data of either event', () => {
    fc.assert(
      fc.property(word, word, uint256, word, fc.option(word), (txHash, from, amount, name, referral) => {
        const data = referral
          ? encodeAbiParameters(
              [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'bytes32' }, { type: 'bytes32' }],
              [from, amount, name, referral],
            )
          : encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }, { type: 'bytes32' }], [from, amount, name])
        const bid = decodeBid(Buffer.concat([fromHex(txHash), fromHex(data)]))
        expect(toHex(bid.txHash)).toBe(txHash)
        expect(toHex(bid.from)).toBe(from)
        expect(bid.amountWei).toBe(amount)
        expect(toHex(bid.nameWord)).toBe(name)
        expect(bid.referral && toHex(bid.referral)).toBe(referral)
      }),
    )
  })

  it.each([0, 96, 127, 129, 159, 161, 192])('is refused with %d bytes', (length) => {
    expect(() => decodeBid(Buffer.alloc(length))).toThrow(RangeError)
  })
})

describe('judgeBid', () => {
  const foo = nameToWord('foo')
  const free = () => false
  const taken = () => true

  it('lets the first bid of at least the minimum win', () => {
    expect(judgeBid({ amountWei: 10n, nameWord: foo }, 10n, free)).toEqual({ outcome: 'won', name: 'foo' })
    expect(judgeBid({ amountWei: 10n, nameWord: foo }, 10n, taken)).toEqual({ outcome: 'lost', name: 'foo' })
    expect(judgeBid({ amountWei: 0n, nameWord: foo }, 0n, free)).toEqual({ outcome: 'won', name: 'foo' })
  })

  it('refuses a malformed name before a small amount, and either before asking who owns it', () => {
    const malformed = Buffer.from('FOO'.padEnd(32, '\0'))
    const never = () => {
      throw new Error('asked')
    }
    expect(judgeBid({ amountWei: 9n, nameWord: malformed }, 10n, never)).toEqual({
      outcome: 'refused',
      name: null,
      reason: 'malformed_name',
    })
    expect(judgeBid({ amountWei: 9n, nameWord: foo }, 10n, never)).toEqual({
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
