import { randomBytes } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519'
import bs58 from 'bs58'
import { privateKeyToAddress } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { generateKey, openShare, recoverKey, SHARE_BYTES, sealShare } from './keyShares.js'

const TYPES = ['evm', 'solana'] as const

/** The address of a key as wallets import it, by independent code. */
const addressOf = (type: (typeof TYPES)[number], key: string): string =>
  type === 'evm'
    ? privateKeyToAddress(key as `0x${string}`).toLowerCase()
    : bs58.encode(ed25519.getPublicKey(bs58.decode(key).subarray(0, 32)))

describe('a generated key', () => {
  it.each(TYPES)('of type %s comes back from any two of its three shares', async (type) => {
    const { address, shares } = await generateKey(type)
    const { user, server, recovery } = shares
    expect([user, server, recovery].map((share) => share.length)).toEqual([
      SHARE_BYTES,
      SHARE_BYTES,
      SHARE_BYTES,
    ])
    const pairs = [
      [user, server],
      [server, user],
      [user, recovery],
      [recovery, server],
    ] as const
    for (const pair of pairs) {
      const key = await recoverKey(address, pair)
      expect(addressOf(type, key!)).toBe(address.text)
      if (type === 'solana') expect(bs58.encode(bs58.decode(key!).subarray(32))).toBe(address.text)
    }
    for (const wrong of [
      user,
      Uint8Array.from(randomBytes(SHARE_BYTES)),
      server.map((byte, i) => (i === 0 ? byte ^ 1 : byte)),
    ])
      expect(await recoverKey(address, [user, wrong])).toBeNull()
    const other = await generateKey(type)
    expect(await recoverKey(address, [user, other.shares.server])).toBeNull()
  })

  it.each(TYPES)('of type %s with a passphrase needs it', async (type) => {
    const { address, shares } = await generateKey(type, 'pass ﬁ phrase')
    const pair = [shares.user, shares.server] as const
    // the ligature is normalized (NFKC)
    expect(addressOf(type, (await recoverKey(address, pair, 'pass fi phrase'))!)).toBe(address.text)
    for (const wrong of [undefined, 'pass', ''])
      expect(await recoverKey(address, pair, wrong)).toBeNull()
  })
})

describe('a kept share', () => {
  it('opens under its key and at its row alone, and looks different each time', () => {
    const key = randomBytes(32)
    const share = randomBytes(SHARE_BYTES)
    const address = Buffer.of(1, ...Buffer.alloc(20, 7))
    const sealed = sealShare(key, 'mainnet', address, share)
    expect(openShare(key, 'mainnet', address, sealed)).toEqual(share)
    expect(sealShare(key, 'mainnet', address, share)).not.toEqual(sealed)
    expect(sealed.includes(share)).toBe(false)
    expect(() => openShare(randomBytes(32), 'mainnet', address, sealed)).toThrow(
      'SHARE_KEY is not the one',
    )
    expect(() => openShare(key, 'testnet', address, sealed)).toThrow()
    expect(() => openShare(key, 'mainnet', Buffer.of(1, ...Buffer.alloc(20, 8)), sealed)).toThrow()
    for (let i = 0; i < sealed.length; i++) {
      const altered = Buffer.from(sealed)
      altered[i]! ^= 1
      expect(() => openShare(key, 'mainnet', address, altered)).toThrow()
    }
  })
})
