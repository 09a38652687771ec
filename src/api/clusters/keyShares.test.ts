import { randomBytes } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519'
import bs58 from 'bs58'
import { privateKeyToAddress } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import {
  decryptKeyShare,
  encryptKeyShare,
  generateKeyShares,
  KEY_SHARE_BYTES,
  recoverKey,
  shareEncryptionKeyId,
} from './keyShares.js'

const WALLET_TYPES = ['evm', 'solana'] as const

/** The address of a private key that has the form in which wallets import it. */
const addressOf = (type: (typeof WALLET_TYPES)[number], key: string): string =>
  type === 'evm'
    ? privateKeyToAddress(key as `0x${string}`).toLowerCase()
    : bs58.encode(ed25519.getPublicKey(bs58.decode(key).subarray(0, 32)))

describe('a generated key', () => {
  describe.each(WALLET_TYPES)('of type %s', async (type) => {
    const { address, shares } = await generateKeyShares(type)
    const { user, server, recovery } = shares

    it.each(Object.entries(shares))('has a %s share of the same length', (_, share) => {
      expect(share).toHaveLength(KEY_SHARE_BYTES)
    })

    it.each<[string, readonly [Uint8Array, Uint8Array]]>([
      ["the user's and the server's", [user, server]],
      ["the server's and the user's", [server, user]],
      ["the user's and the recovery's", [user, recovery]],
      ["the recovery's and the server's", [recovery, server]],
    ])('is recovered from two of its three shares: %s', async (_, pair) => {
      const key = await recoverKey(address, pair)
      expect(addressOf(type, key!)).toBe(address.text)
      if (type === 'solana') expect(bs58.encode(bs58.decode(key!).subarray(32))).toBe(address.text)
    })

    it.each<[string, () => Promise<Uint8Array> | Uint8Array]>([
      ['the same again', () => user],
      ['random bytes', () => Uint8Array.from(randomBytes(KEY_SHARE_BYTES))],
      ['one with a bit changed', () => server.map((byte, i) => (i === 0 ? byte ^ 1 : byte))],
      ["another key's", async () => (await generateKeyShares(type)).shares.server],
    ])("is not recovered from the user's share and %s", async (_, wrong) => {
      expect(await recoverKey(address, [user, await wrong()])).toBeNull()
    })
  })
})

describe('a stored share', () => {
  const key = randomBytes(32)
  const former = randomBytes(32)
  const share = randomBytes(KEY_SHARE_BYTES)
  const address = Buffer.of(1, ...Buffer.alloc(20, 7))
  const sealed = encryptKeyShare([key], 'mainnet', address, share)

  it('is decrypted only with its key and at its row, and is encrypted differently each time', () => {
    expect(decryptKeyShare([key], 'mainnet', address, sealed)).toEqual(share)
    expect(encryptKeyShare([key], 'mainnet', address, share).share).not.toEqual(sealed.share)
    expect(sealed.share.includes(share)).toBe(false)
    expect(() => decryptKeyShare([randomBytes(32)], 'mainnet', address, sealed)).toThrow(
      `SHARE_KEY has not the key under which it was kept (${shareEncryptionKeyId(key).toString('hex')})`,
    )
    expect(() => decryptKeyShare([key], 'testnet', address, sealed)).toThrow()
    const other = Buffer.of(1, ...Buffer.alloc(20, 8))
    expect(() => decryptKeyShare([key], 'mainnet', other, sealed)).toThrow()
    for (let i = 0; i < sealed.share.length; i++) {
      const altered = Buffer.from(sealed.share)
      altered[i]! ^= 1
      expect(() =>
        decryptKeyShare([key], 'mainnet', address, { ...sealed, share: altered }),
      ).toThrow()
    }
  })

  it('is decrypted with an earlier key of the list too, with and without the key’s id', () => {
    const kept = encryptKeyShare([former], 'mainnet', address, share)
    for (const keyId of [kept.keyId, null])
      expect(decryptKeyShare([key, former], 'mainnet', address, { ...kept, keyId })).toEqual(share)
    expect(() => decryptKeyShare([key], 'mainnet', address, { ...kept, keyId: null })).toThrow(
      'SHARE_KEY has not the key under which it was kept (from before keys had ids)',
    )
  })

  it('is encrypted with the first key, whose id reveals nothing about it', () => {
    const { keyId } = encryptKeyShare([key, former], 'mainnet', address, share)
    expect(keyId).toEqual(shareEncryptionKeyId(key))
    expect(keyId).not.toEqual(shareEncryptionKeyId(former))
    expect(key.includes(keyId!)).toBe(false)
  })
})
