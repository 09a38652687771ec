import { ed25519 } from '@noble/curves/ed25519'
import bs58 from 'bs58'
import { describe, expect, it } from 'vitest'
import { parseSolanaSecretKey } from './solanaKey.js'

const seed = new Uint8Array(32).fill(7)
const key = Uint8Array.from([...seed, ...ed25519.getPublicKey(seed)])

describe('a secret key of Solana', () => {
  it('is read in base58 and as a JSON array', () => {
    expect(parseSolanaSecretKey(bs58.encode(key))).toEqual(key)
    expect(parseSolanaSecretKey(` [${[...key].join(', ')}]\n`)).toEqual(key)
  })

  it.each([
    ['', 'nothing'],
    [bs58.encode(seed), 'a seed alone'],
    [bs58.encode(new Uint8Array(64).fill(1)), 'halves that do not belong together'],
    ['[1,2]', 'too few'],
    ['[256]', 'no byte'],
    ['[', 'no JSON'],
    ['1'.repeat(100_000), 'far too long'],
    [`[${'1,'.repeat(100_000)}1]`, 'a far too long array'],
  ])('is not %#: $1', (text) => {
    expect(parseSolanaSecretKey(text)).toBeNull()
  })
})
