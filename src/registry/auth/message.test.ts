import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { parseSiweMessage, validateSiweMessage } from 'viem/siwe'
import { describe, expect, it } from 'vitest'
import { parseAddress } from '../primitives/address.js'
import { fromHex } from '../primitives/bytes.js'
import { authKey, authKeyHash, walletBoundMessageNonce } from './key.js'
import {
  isSigningDateFresh,
  parseSigningDate,
  verificationMessage,
  walletBoundMessage,
} from './message.js'

const golden = JSON.parse(
  readFileSync(new URL('../../../test/vectors/auth/messages.json', import.meta.url), 'utf8'),
) as {
  domain: string
  signingDate: string
  tokenKey: string
  chainId: number
  plain: string
  bound: { type: string; wallet: string; message: string; key: string }[]
}
const { domain, signingDate, chainId } = golden
const tokenKey = fromHex(golden.tokenKey)

const walletOf = (text: string) => {
  const wallet = parseAddress(text)
  if (typeof wallet === 'string') throw new Error(wallet)
  return wallet
}
const boundOf = (text: string) => {
  const wallet = walletOf(text)
  return walletBoundMessage({
    domain,
    wallet,
    chainId,
    nonce: walletBoundMessageNonce(tokenKey, wallet, signingDate),
    signingDate,
  })
}

describe('messages', () => {
  it('equal the recorded messages', () => {
    expect(verificationMessage(domain, signingDate)).toBe(golden.plain)
    for (const { wallet, message } of golden.bound) expect(boundOf(wallet)).toBe(message)
  })

  it('bound to an EVM address are EIP-4361', () => {
    const parsed = parseSiweMessage(boundOf(golden.bound[0]!.wallet))
    expect(parsed).toMatchObject({ domain, chainId, version: '1', uri: `https://${domain}` })
    expect(parsed.address?.toLowerCase()).toBe(golden.bound[0]!.wallet)
    expect(parsed.issuedAt?.toISOString()).toBe(signingDate)
    expect(validateSiweMessage({ message: parsed, domain, nonce: parsed.nonce! })).toBe(true)
  })

  it('that request a key are EIP-4361 too, name the wallet, and have its own nonce', () => {
    const [wallet, recovered, other] = golden.bound
      .map(({ wallet }) => walletOf(wallet))
      .concat(walletOf(`0x${'0b'.repeat(20)}`))
    const nonceFor = (asked?: typeof wallet) =>
      walletBoundMessageNonce(tokenKey, wallet!, signingDate, asked)
    const message = walletBoundMessage({
      domain,
      wallet: wallet!,
      chainId,
      nonce: nonceFor(recovered),
      signingDate,
      recovered,
    })
    expect(parseSiweMessage(message).statement).toBe(
      `Recover the private key of the wallet ${recovered!.text}. Sign this only to get that key yourself; it serves once.`,
    )
    expect(new Set([nonceFor(), nonceFor(recovered), nonceFor(other)]).size).toBe(3)
  })

  it('bound to two wallets, or to two dates, differ in their nonce', () => {
    const [a, b] = golden.bound.map(({ wallet }) => walletOf(wallet))
    const nonces = [a!, b!].flatMap((wallet) =>
      [signingDate, '2026-11-20T08:00:00.001Z'].map((date) =>
        walletBoundMessageNonce(tokenKey, wallet, date),
      ),
    )
    expect(new Set(nonces).size).toBe(4)
  })
})

describe('keys', () => {
  it('equal the recorded keys, and are found by their hash', () => {
    for (const { wallet, key } of golden.bound) {
      expect(authKey(tokenKey, walletOf(wallet), signingDate)).toBe(key)
      expect(authKeyHash(key)).toHaveLength(32)
    }
  })

  it('of a date differ by the nonce, as messages do by the share of the client', () => {
    const wallet = walletOf(golden.bound[0]!.wallet)
    const nonces = [undefined, 'a'.repeat(16), 'b'.repeat(16)].map((share) =>
      walletBoundMessageNonce(tokenKey, wallet, signingDate, undefined, share),
    )
    const keys = [undefined, ...nonces].map((nonce) =>
      authKey(tokenKey, wallet, signingDate, nonce),
    )
    expect(new Set([...nonces, ...keys]).size).toBe(7)
    // a session without a nonce has the key of all sessions before there were nonces
    expect(authKey(tokenKey, wallet, signingDate, '')).toBe(golden.bound[0]!.key)
  })

  it('have a single form', () => {
    const key = golden.bound[0]!.key
    for (const text of [
      '',
      key.slice(1),
      `${key}A`,
      `${key}=`,
      key.replace(/.$/, '+'),
      ` ${key}`,
      'x'.repeat(100_000),
    ])
      expect(authKeyHash(text)).toBeNull()
  })
})

describe('signing dates', () => {
  const at = Date.parse(signingDate)

  it('have a single form', () => {
    expect(parseSigningDate(signingDate)).toBe(at)
    const odd = [
      ...[
        '',
        '0',
        '2026',
        '2026-11-20',
        '2026-11-20T08:00:00Z',
        '2026-11-20T08:00:00.000',
        '2026-11-20T08:00:00.000z',
      ],
      ...[
        '2026-11-20 08:00:00.000Z',
        '2026-11-20T08:00:00.0000Z',
        '2026-11-20T09:00:00.000+01:00',
        '2026-02-30T08:00:00.000Z',
      ],
      ...[
        '2026-11-20T24:00:00.000Z',
        '+002026-11-20T08:00:00.000Z',
        '+012026-11-20T08:00:00.000Z',
        '-000001-11-20T08:00:00.000Z',
        String(at),
        'Fri, 20 Nov 2026 08:00:00 GMT',
        'NaN',
      ],
      ...['2026-11-20T08:00:00.000Z ', 'x'.repeat(24), '9'.repeat(100_000)],
    ]
    for (const text of odd) expect(parseSigningDate(text), text.slice(0, 50)).toBeNull()
  })

  it('are parsed to the time that was written', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ maxLength: 40 }),
          fc.date({ noInvalidDate: true }).map((d) => d.toISOString()),
        ),
        (text) => {
          const ms = parseSigningDate(text)
          if (ms !== null) expect(new Date(ms).toISOString()).toBe(text)
        },
      ),
    )
  })

  it('are accepted from ten minutes in the past to one minute in the future', () => {
    expect(
      [-60_001, -60_000, 0, 600_000, 600_001].map((age) => isSigningDateFresh(at - age, at)),
    ).toEqual([...[false, true, true, true, false]])
    expect(isSigningDateFresh(at - 300_001, at, 300_000)).toBe(false)
  })
})
