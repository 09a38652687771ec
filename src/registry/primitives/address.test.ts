import bs58 from 'bs58'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  addressOfWord,
  addressToWord,
  decodeAddress,
  decodeWallet,
  parseAddress,
  parseWalletOrNull,
} from './address.js'

/** The vectors of EIP-55. */
const EIP55_ADDRESSES = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
]

const evm = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((b) => `0x${Buffer.from(b).toString('hex')}`)
const solana = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((b) => bs58.encode(b))
const parsed = (input: string) => {
  const address = parseAddress(input)
  if (typeof address === 'string') throw new Error(`${input}: ${address}`)
  return address
}

describe('EVM addresses', () => {
  it.each(EIP55_ADDRESSES)('accepts %s, and returns it in lower case', (input) => {
    expect(parsed(input)).toMatchObject({ type: 'evm', text: input.toLowerCase() })
    expect(parsed(input.toLowerCase()).text).toBe(input.toLowerCase())
  })

  it('refuses a checksum with any one letter in the other case', () => {
    const vector = EIP55_ADDRESSES[4]!
    for (let i = 2; i < vector.length; i++) {
      const c = vector[i]!
      const other = c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase()
      if (other === c) continue
      const wrong = vector.slice(0, i) + other + vector.slice(i + 1)
      expect(parseAddress(wrong), wrong).toBe('bad_checksum')
      expect(parseWalletOrNull(wrong), wrong).toBeNull()
    }
  })

  it('accepts letters in a single case, which have no checksum', () => {
    expect(parsed(`0x${'AB'.repeat(20)}`).text).toBe(`0x${'ab'.repeat(20)}`)
    expect(parsed(`0x${'12'.repeat(20)}`).text).toBe(`0x${'12'.repeat(20)}`)
  })

  it.each([
    '',
    '0x',
    `0x${'a'.repeat(39)}`,
    `0x${'a'.repeat(41)}`,
    `0X${'a'.repeat(40)}`,
    'a'.repeat(40),
    `0x${'g'.repeat(40)}`,
    ` 0x${'a'.repeat(40)}`,
    `0x${'a'.repeat(40)}\n`,
    `0x${'a'.repeat(64)}`,
  ])('refuses %j', (input) => {
    expect(parseAddress(input)).toBe('unsupported_address')
  })
})

describe('Solana addresses', () => {
  it.each([
    { name: 'the lowest', key: Buffer.alloc(32), length: 32 },
    { name: 'one between', key: Buffer.alloc(32, 1), length: 43 },
    { name: 'the highest', key: Buffer.alloc(32, 255), length: 44 },
  ])('accepts every key: $name, of $length characters', ({ key, length }) => {
    const text = bs58.encode(key)
    expect(parsed(text)).toMatchObject({ type: 'solana', text })
    expect(text).toHaveLength(length)
  })

  it('refuses base58 of another length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 0, maxLength: 64 }), (bytes) => {
        const address = parseAddress(bs58.encode(bytes))
        expect(typeof address === 'string').toBe(bytes.length !== 32)
      }),
    )
  })

  it.each(['0', 'O', 'I', 'l', ' ', 'é', '\n'])(
    'refuses %j, which is not in base58',
    (character) => {
      expect(parseAddress(character + '1'.repeat(31))).toBe('unsupported_address')
    },
  )

  it('refuses what is too long before it decodes', () => {
    // decoding is quadratic, and would take minutes for this input
    expect(parseAddress('z'.repeat(1_000_000))).toBe('unsupported_address')
  })
})

describe('stored forms', () => {
  it('are decoded from the stored form and from the word', () => {
    fc.assert(
      fc.property(fc.oneof(evm, solana), (text) => {
        const address = parsed(text)
        expect(address.text).toBe(text)
        expect(decodeAddress(address.bytes)).toEqual(address)
        expect(addressToWord(address.bytes)).toHaveLength(32)
        expect(addressOfWord(addressToWord(address.bytes)).equals(address.bytes)).toBe(true)
      }),
    )
  })

  it('left-pad an EVM address in its word, and keep a Solana key unchanged', () => {
    expect(addressToWord(parsed(`0x${'ab'.repeat(20)}`).bytes).toString('hex')).toBe(
      '00'.repeat(12) + 'ab'.repeat(20),
    )
    expect(addressToWord(parsed(bs58.encode(Buffer.alloc(32, 7))).bytes).toString('hex')).toBe(
      '07'.repeat(32),
    )
  })

  it('read a word with any bit set in its first 12 bytes as a Solana key', () => {
    for (let i = 0; i < 96; i++) {
      const word = Buffer.alloc(32, 9).fill(0, 0, 12)
      word[i >> 3] = 1 << (i & 7)
      expect(decodeAddress(addressOfWord(word)).type).toBe('solana')
    }
    expect(decodeAddress(addressOfWord(Buffer.alloc(32))).text).toBe(`0x${'0'.repeat(40)}`)
  })

  it('of an EVM address never equal those of a Solana key', () => {
    fc.assert(
      fc.property(evm, solana, (a, b) => {
        expect(parsed(a).bytes.equals(parsed(b).bytes)).toBe(false)
      }),
    )
  })

  it.each([
    '',
    '01',
    `01${'00'.repeat(19)}`,
    `01${'00'.repeat(32)}`,
    `02${'00'.repeat(20)}`,
    `03${'00'.repeat(20)}`,
  ])('are refused for invalid bytes: 0x%s', (hex) => {
    expect(() => decodeAddress(Buffer.from(hex, 'hex'))).toThrow(`0x${hex} is not a stored address`)
  })

  it.each([
    ['an EVM address', EIP55_ADDRESSES[0]!.toLowerCase()],
    ['a Bitcoin address', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa'],
  ])('of any chain are decoded as wallets: %s', (_, text) => {
    const wallet = parseWalletOrNull(text)!
    expect(wallet.text).toBe(text)
    expect(decodeWallet(wallet.bytes)).toEqual(wallet)
  })

  it('are refused for stored bytes that are no address', () => {
    expect(() => decodeWallet(Buffer.from('03313131', 'hex'))).toThrow(
      '0x03313131 is not a stored address',
    )
  })

  it.each(['', 'nobody', `${EIP55_ADDRESSES[0]!}0`])(
    'are refused for text that is no address: "%s"',
    (text) => {
      expect(parseWalletOrNull(text)).toBeNull()
    },
  )

  it('do not share memory with the bytes that they were decoded from', () => {
    const word = addressToWord(parsed(EIP55_ADDRESSES[0]!).bytes)
    const bytes = addressOfWord(word)
    word.fill(0)
    expect(decodeAddress(bytes).text).toBe(EIP55_ADDRESSES[0]!.toLowerCase())
  })
})
