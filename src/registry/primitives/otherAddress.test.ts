import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { base58, base58xrp, bech32, bech32m } from '@scure/base'
import bs58 from 'bs58'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { addressToWord, decodeWallet, parseAddress, parseWallet, type Wallet } from './address.js'
import { OTHER_CHAIN_ADDRESS_TYPES, parseOtherChainAddress } from './otherAddress.js'

/** Published addresses: BIP 173, 350, 84 and 16; genesis and first payments; chains' documentation. */
const KNOWN_ADDRESSES: readonly (readonly [type: string, text: string])[] = [
  ['bitcoin-p2pkh', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
  ['bitcoin-p2sh', '3P14159f73E4gFr7JterCCQh9QjiTjiZrG'],
  ['bitcoin-p2wpkh', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4'],
  ['bitcoin-p2wpkh', 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu'],
  ['bitcoin-p2wsh', 'bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3'],
  ['bitcoin-p2tr', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0'],
  ['bitcoin-p2wpkh', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx'],
  ['dogecoin', 'DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L'],
  ['tron', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t'],
  ['ripple-classic', 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'],
  ['aptos', `0x${'0'.repeat(63)}1`],
]

const folder = join(import.meta.dirname, '../../../test/vectors/auth')
/** Wallets in the vectors of every kind of signatures, of chains without payments. */
const SIGNER_ADDRESSES = readdirSync(folder)
  .flatMap((file) => [JSON.parse(readFileSync(join(folder, file), 'utf8'))].flat())
  .filter(({ wallet, isValid }) => isValid && parseAddress(wallet) === 'unsupported_address')
  .map(({ wallet }) => [wallet] as const)

const ADDRESS_TEXTS = [...KNOWN_ADDRESSES.map(([, text]) => text), ...SIGNER_ADDRESSES.flat()]

describe('addresses of other chains', () => {
  it.each(SIGNER_ADDRESSES)('%s, which can sign, has a known type and a stored form', (text) => {
    const known = parseOtherChainAddress(text)!
    expect([...OTHER_CHAIN_ADDRESS_TYPES, /^cosmos-/.test(known.type) && known.type]).toContain(
      known.type,
    )
    expect(decodeWallet((parseWallet(text) as Wallet).bytes)).toMatchObject(known)
  })

  it.each(KNOWN_ADDRESSES)('%s: %s', (type, text) => {
    expect(parseOtherChainAddress(text)).toEqual({ type, text })
    const wallet = parseWallet(text)
    expect(wallet).toMatchObject({ type, text })
    if (typeof wallet === 'string') return
    expect(wallet.bytes[0]).toBe(3)
    expect(decodeWallet(wallet.bytes)).toEqual(wallet)
    expect(addressToWord(wallet.bytes)).toHaveLength(32)
    // such a wallet can't register or pay
    expect(parseAddress(text)).toBe('unsupported_address')
  })

  it.each(KNOWN_ADDRESSES.filter(([, known]) => /^(bc|tb)1/.test(known)))(
    'in upper case are equal if their form allows it: %s %s',
    (type, text) => {
      expect(parseOtherChainAddress(text.toUpperCase())).toEqual({ type, text })
    },
  )

  it('in mixed case are equal in hex, and invalid in bech32', () => {
    expect(parseOtherChainAddress(`0x${'A'.repeat(64)}`)!.text).toBe(`0x${'a'.repeat(64)}`)
    expect(parseOtherChainAddress('bc1QW508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4')).toBeNull()
  })

  it('of Cosmos Hub have a type without a prefix', () => {
    // bech32 of the bytes 1 to 20, as in the documentation of Cosmos libraries
    const known = 'cosmos1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5lzv7xu'
    expect(parseOtherChainAddress(known)).toEqual({ type: 'cosmos', text: known })
  })

  it.each(['osmo', 'celestia', 'inj'])(
    'of Cosmos chains have a type with their prefix: %s',
    (prefix) => {
      const text = bech32.encode(prefix, bech32.toWords(Buffer.alloc(20, 7)))
      expect(parseOtherChainAddress(text)).toEqual({ type: `cosmos-${prefix}`, text })
    },
  )

  it.each([
    ['no bytes', 'cosmos1'],
    ['21 bytes', bech32.encode('osmo', bech32.toWords(Buffer.alloc(21, 7)))],
    // NIP-19: 32 bytes in bech32 too
    ['a Nostr key', 'nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5'],
  ])('in bech32 are refused otherwise: %s', (_, junk) => {
    expect(parseOtherChainAddress(junk)).toBeNull()
  })

  it('of 32 bytes of a Cosmos chain are accounts too (ADR 028)', () => {
    const text = bech32.encode('osmo', bech32.toWords(Buffer.alloc(32, 7)))
    expect(parseOtherChainAddress(text)).toEqual({ type: 'cosmos-osmo', text })
  })

  const words = (bytes: number) => bech32.toWords(Buffer.alloc(bytes, 7))
  const program = (version: number, bytes: number) => [version, ...words(bytes)]
  it.each([
    ['more digits than Aptos has', `0x${'0'.repeat(65)}`],
    ['anything before its 0x', `a0x${'0'.repeat(64)}`],
    ['version 0 of 25 bytes', bech32.encode('bc', program(0, 25))],
    ['version 1 in bech32, not bech32m (BIP 350)', bech32.encode('bc', program(1, 32))],
    ['version 1 of 20 bytes', bech32m.encode('bc', program(1, 20))],
    ['version 2', bech32m.encode('bc', program(2, 32))],
    ['version 1 of Litecoin', bech32m.encode('ltc', program(1, 32))],
    ['a witness program of a chain that has none', bech32.encode('osmo', program(0, 20))],
    ['bits left over that are not zero', bech32.encode('osmo', [...words(20).slice(0, -1), 1, 1])],
    ['a digit in its prefix', bech32.encode('osmo2', words(20))],
    ['more than 90 characters', bech32.encode('osmosisosmosisosmosi', words(43), 200)],
  ])('are refused with %s', (_, text) => expect(parseOtherChainAddress(text)).toBeNull())

  const checked = (version: number, bytes: number) => {
    const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest()
    const rest = Buffer.concat([Buffer.of(version), Buffer.alloc(bytes, 7)])
    return Buffer.concat([rest, sha256(sha256(rest)).subarray(0, 4)])
  }

  it('in base58 have 25 bytes, a known version, and a checksum', () => {
    expect(parseOtherChainAddress(base58.encode(checked(48, 20)))).toMatchObject({
      type: 'litecoin-p2pkh',
    })
    expect(parseOtherChainAddress(base58xrp.encode(checked(0, 20)))).toMatchObject({
      type: 'ripple-classic',
    })
  })

  it.each([
    ['base58, a byte too short', base58.encode(checked(48, 19))],
    ['base58, a byte too long', base58.encode(checked(48, 21))],
    ['base58, another version', base58.encode(checked(49, 20))],
    ["Ripple's base58, another version", base58xrp.encode(checked(5, 20))],
    ["Ripple's base58, a byte too long", base58xrp.encode(checked(0, 21))],
  ])('in base58 are refused otherwise: %s', (_, text) => {
    expect(parseOtherChainAddress(text)).toBeNull()
  })

  it.each(['osmo', 'juno'])('of Cosmos chains are never parsed as Solana keys: %s', (prefix) => {
    // 43 characters are 32 bytes in base58 where none of them is 0 or l
    let inBase58 = 0
    for (let i = 0; i < 1_000; i++) {
      const text = bech32.encode(prefix, bech32.toWords(randomBytes(20)))
      if (bs58.decodeUnsafe(text)?.length === 32) inBase58++
      expect(parseAddress(text), text).toBe('unsupported_address')
      expect(parseWallet(text), text).toMatchObject({ type: `cosmos-${prefix}`, text })
    }
    expect(inBase58).toBeGreaterThan(0)
  })

  it('of every form are decoded from their stored form', () => {
    const prefix = fc.stringMatching(/^[a-z]{2,20}$/)
    const text = fc.oneof(
      fc.constantFrom(...ADDRESS_TEXTS),
      fc
        .tuple(prefix, fc.constantFrom(20, 32))
        .map(([of, bytes]) => bech32.encode(of, bech32.toWords(randomBytes(bytes)))),
      fc
        .tuple(prefix, fc.constantFrom(20, 32))
        .map(([of, bytes]) => bech32.encode(of, [0, ...bech32.toWords(randomBytes(bytes))])),
    )
    fc.assert(
      fc.property(text, (input) => {
        const wallet = parseWallet(input)
        if (typeof wallet !== 'string') expect(decodeWallet(wallet.bytes)).toEqual(wallet)
      }),
      { examples: ADDRESS_TEXTS.map((known) => [known]) },
    )
  })

  it('with any character changed are refused', () => {
    const sample = fc.constantFrom(...ADDRESS_TEXTS.filter((text) => !text.startsWith('0x')))
    const letter = fc.constantFrom(
      ...'0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ',
    )
    fc.assert(
      fc.property(sample, fc.nat(), letter, (text, at, other) => {
        const i = at % text.length
        fc.pre(text[i] !== other)
        expect(parseOtherChainAddress(text.slice(0, i) + other + text.slice(i + 1))).toBeNull()
      }),
      { numRuns: 500 },
    )
  })

  it('are distinguished from other texts quickly', () => {
    fc.assert(fc.property(fc.string(), (text) => parseOtherChainAddress(text) === null))
  })

  it.each(['1', 'q', 'z', 'r', 'T', 'bc1', '0x'])(
    'are distinguished from a long text of %s quickly',
    (part) => {
      expect(parseOtherChainAddress(part.repeat(100_000))).toBeNull()
    },
  )

  it.each(['', '03', '0378', '040102'])('are not decoded from 0x%s', (hex) => {
    expect(() => decodeWallet(Buffer.from(hex, 'hex'))).toThrow(RangeError)
  })
})
