import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { encodeAbiParameters } from 'viem'
import { describe, expect, it } from 'vitest'
import { addressOfWord } from '../primitives/address.js'
import { fromHex, toHex } from '../primitives/bytes.js'
import { nameToWord, wordToName } from '../primitives/name.js'
import { NAME_MAX_BYTES } from '../primitives/nameRule.js'
import {
  BID_OUTCOME,
  BID_REFUSAL,
  type BidRefusal,
  bidNameWord,
  bidTxHash,
  decideBid,
  decodeBid,
  PAUSED_HUB_SUFFIX,
} from './bid.js'

const word = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex)
const nameWord = fc.oneof(
  word,
  fc.constantFrom('foo', 'x'.repeat(NAME_MAX_BYTES)).map((name) => toHex(nameToWord(name))),
)
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

describe('the body of a bid', () => {
  it('is the transaction hash and the data of the event, with or without a referral', () => {
    fc.assert(
      fc.property(
        word,
        word,
        uint256,
        nameWord,
        fc.option(word),
        (txHash, from, amount, name, referral) => {
          const data = referral
            ? encodeAbiParameters(
                [
                  { type: 'bytes32' },
                  { type: 'uint256' },
                  { type: 'bytes32' },
                  { type: 'bytes32' },
                ],
                [from, amount, name, referral],
              )
            : encodeAbiParameters(
                [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'bytes32' }],
                [from, amount, name],
              )
          const body = Buffer.concat([fromHex(txHash), fromHex(data)])
          const bid = {
            kind: 'bid',
            wallet: addressOfWord(fromHex(from)),
            amountWei: amount,
            name: wordToName(fromHex(name)),
          }
          expect(decodeBid(body)).toEqual({ ...bid, isPaused: false })
          const paused = Buffer.concat([body, PAUSED_HUB_SUFFIX])
          expect(decodeBid(paused)).toEqual({ ...bid, isPaused: true })
          for (const bytes of [body, paused]) {
            expect(toHex(bidTxHash(bytes))).toBe(txHash)
            expect(toHex(bidNameWord(bytes))).toBe(name)
          }
        },
      ),
    )
  })

  it.each([0, 96, 127, 129, 159, 161, 192])('is refused with %d bytes', (length) => {
    expect(() => decodeBid(Buffer.alloc(length))).toThrow(RangeError)
    expect(() => decodeBid(Buffer.alloc(length))).toThrow(
      `a bid's body has 128 or 160 bytes, not ${length}`,
    )
  })

  it.each([1, 97, 127, 130, 193])(
    'is refused with %d bytes that end with the mark of a pause',
    (length) => {
      expect(() => decodeBid(Buffer.alloc(length, PAUSED_HUB_SUFFIX))).toThrow(RangeError)
    },
  )
})

describe('decideBid', () => {
  const free = () => false
  const taken = () => true
  const bid = (amountWei: bigint, name: string | null = 'foo', isPaused = false) => ({
    amountWei,
    name,
    isPaused,
  })

  it('lets the first bid of at least the minimum win', () => {
    expect(decideBid(bid(10n), 10n, free)).toEqual({ outcome: 'won', name: 'foo' })
    expect(decideBid(bid(10n), 10n, taken)).toEqual({ outcome: 'lost', name: 'foo' })
    expect(decideBid(bid(0n), 0n, free)).toEqual({ outcome: 'won', name: 'foo' })
  })

  it.each<{ name: string; refused: ReturnType<typeof bid>; reason: BidRefusal }>([
    {
      name: 'a malformed name before a small amount',
      refused: bid(9n, null, true),
      reason: 'malformed_name',
    },
    {
      name: 'a small amount before a pause',
      refused: bid(9n, 'foo', true),
      reason: 'below_minimum',
    },
    {
      name: 'a pause before asking who owns it',
      refused: bid(10n, 'foo', true),
      reason: 'paused',
    },
  ])('refuses $name', ({ refused, reason }) => {
    const never = () => {
      throw new Error('asked')
    }
    expect(decideBid(refused, 10n, never)).toEqual({
      outcome: 'refused',
      name: refused.name,
      reason,
    })
  })
})

describe('stored codes', () => {
  it('are never renumbered', () => {
    expect(BID_OUTCOME).toEqual({ won: 1, lost: 2, refused: 3 })
    expect(BID_REFUSAL).toEqual({ malformed_name: 1, below_minimum: 2, paused: 3 })
  })

  it('of refusals equal those of the hub contract', () => {
    const source = readFileSync(
      new URL('../../../contracts/evm/src/interfaces/IHub.sol', import.meta.url),
      'utf8',
    )
    const [, members] = /enum RefusalReason \{([^}]*)\}/.exec(source)!
    const reasons = members!.split(',').map((member) => snakeCase(member.trim()))
    expect(reasons).toEqual(['none', ...Object.keys(BID_REFUSAL)])
  })
})

const snakeCase = (name: string) => name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase()
