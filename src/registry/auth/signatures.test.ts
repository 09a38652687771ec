import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { ed25519 } from '@noble/curves/ed25519.js'
import bs58 from 'bs58'
import fc from 'fast-check'
import {
  hashMessage,
  parseSignature,
  serializeCompactSignature,
  signatureToCompactSignature,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { expectWithin } from '../../../test/setup/processorTime.js'
import { fromHex, toHex } from '../primitives/bytes.js'
import { evmWalletKind, parseEvmSignature, personalSignHash, recoverSigner } from './evm.js'
import { offchainEnvelopes } from './offchainMessage.js'
import { isSignedBySolana, parseSolanaSignature } from './solana.js'

/** A check takes about two milliseconds. */
const quick = <T>(work: () => T): T => expectWithin(500, work)

describe('EVM signatures', () => {
  const account = privateKeyToAccount(generatePrivateKey())

  it('sign the hash of personal_sign', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (message) => {
        expect(toHex(personalSignHash(message))).toBe(hashMessage(message))
      }),
      { numRuns: 30 },
    )
  })

  it('are accepted in the long form and the compact form of EIP-2098, and in no other length', async () => {
    for (let i = 0; i < 8; i++) {
      const signature = await account.signMessage({ message: String(i) })
      const compact = serializeCompactSignature(
        signatureToCompactSignature(parseSignature(signature)),
      )
      expect(recoverSigner(String(i), parseEvmSignature(fromHex(compact))!)).toBe(
        account.address.toLowerCase(),
      )
      expect(recoverSigner(`${i}.`, parseEvmSignature(fromHex(compact))!)).not.toBe(
        account.address.toLowerCase(),
      )
      for (const text of [`${signature}00`, compact.slice(0, -2), compact.slice(0, -1)])
        expect(quick(() => parseEvmSignature(fromHex(text)))).toBeNull()
    }
  })

  it('with an unknown v, or r or s out of range, have no signer', () => {
    const order = 'fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141'
    const one = '1'.padStart(64, '0')
    for (const [r, s, v] of [
      [one, one, '02'],
      [one, one, '1d'],
      [order, one, '1b'],
      [one, order, '1b'],
      ['0'.repeat(64), one, '1b'],
    ])
      expect(
        recoverSigner('m', parseEvmSignature(fromHex(`0x${r}${s}${v}`))!),
        `${r} ${s} ${v}`,
      ).toBeNull()
  })

  it('of any other form are refused quickly', () => {
    const forms = [
      '',
      '0x0',
      '0'.repeat(131),
      `0x${'g'.repeat(130)}`,
      `0x${'0'.repeat(2 * 8_193)}`,
      'null',
      '{}',
      '[]',
      '[256]',
      '{"signature":1}',
      '{"signature":"0x00"',
      '{"signature":{"signature":{}}}',
    ]
    for (const text of [...forms, `0x${'0'.repeat(100_000)}`, '\n'.repeat(132)])
      expect(
        quick(() => evmWalletKind.read(text)),
        text,
      ).toBeNull()
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 65, maxLength: 65 }), (bytes) => {
        const signer = quick(() => recoverSigner('m', bytes))
        if (signer !== null) expect(signer).toMatch(/^0x[0-9a-f]{40}$/)
      }),
    )
  })
})

describe('Solana signatures', () => {
  it('that lenient verifiers accept are refused', () => {
    const path = new URL('../../../test/vectors/auth/solana.json', import.meta.url)
    const vectors = JSON.parse(readFileSync(path, 'utf8')) as Record<
      'form' | 'message' | 'wallet' | 'signature',
      string
    >[]
    const forged = vectors.filter(({ form }) => form.startsWith('key of order'))
    expect(forged).toHaveLength(2)
    for (const { message, wallet, signature } of forged) {
      const lenient = { zip215: true } as const
      const [bytes] = parseSolanaSignature(signature) as [Buffer]
      const text = Buffer.from(message)
      expect(ed25519.verify(bytes, text, bs58.decode(wallet), lenient)).toBe(true)
    }
  })

  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const key = Buffer.from(publicKey.export({ format: 'jwk' }).x!, 'base64url')

  it('over the message or an envelope are accepted, and refused with one bit changed', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, maxLength: 300 }),
        fc.nat(5),
        fc.nat(511),
        (message, which, bit) => {
          const text = Buffer.from(message, 'utf8')
          const signed = [text, ...offchainEnvelopes(text, key)][which]!
          const signature = sign(null, signed, privateKey)
          expect(isSignedBySolana(message, signature, key)).toBe(true)
          expect(isSignedBySolana(`${message}.`, signature, key)).toBe(false)
          signature[bit >> 3]! ^= 1 << (bit & 7)
          expect(quick(() => isSignedBySolana(message, signature, key))).toBe(false)
        },
      ),
      { numRuns: 50 },
    )
  })

  it('are read in each form: base58 of 86 letters also as base64 without padding', () => {
    const base58Of86 = Uint8Array.from([0, 3, ...Array<number>(62).fill(12)])
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 64, maxLength: 64 }), (bytes) => {
        const signature = Buffer.from(bytes)
        for (const text of [toHex(signature), signature.toString('base64')])
          expect(parseSolanaSignature(text)).toEqual([signature])

        const text = bs58.encode(signature)
        const base64 = Buffer.from(text, 'base64')
        const isBase64 = base64.toString('base64') === `${text}==`
        expect(parseSolanaSignature(text)).toEqual(isBase64 ? [base64, signature] : [signature])
      }),
      { examples: [[base58Of86]] },
    )
    expect(parseSolanaSignature('1'.repeat(64))).toEqual([Buffer.alloc(64)])
  })

  it('of any other form are refused quickly', () => {
    const long = ['1', 'z', '0', 'A', '='].map((letter) => letter.repeat(100_000))
    const cut = [63, 65, 32, 128].flatMap((length) => {
      const bytes = Buffer.alloc(length, 0xa5)
      return [toHex(bytes), bs58.encode(bytes), bytes.toString('base64')]
    })
    const odd = [
      '',
      `${'A'.repeat(85)}B==`,
      'z'.repeat(88),
      '0'.repeat(127),
      `0x${'g'.repeat(128)}`,
      '1'.repeat(63),
    ]
    for (const text of [...long, ...cut, ...odd])
      expect(
        quick(() => parseSolanaSignature(text)),
        text,
      ).toEqual([])
  })

  it('over an envelope are possible for messages of 1 to 65,535 bytes', () => {
    const counts = [0, 1, 0xffff, 0x10000].map(
      (length) => offchainEnvelopes(Buffer.alloc(length), Buffer.alloc(32)).length,
    )
    expect(counts).toEqual([0, 5, 5, 0])
  })

  it('of keys that are not curve points are refused', () => {
    for (const key of [Buffer.alloc(32), Buffer.alloc(32, 0xff), Buffer.alloc(32, 2)])
      expect(quick(() => isSignedBySolana('m', Buffer.alloc(64), key))).toBe(false)
  })
})
