import { createHash } from 'node:crypto'
import { readdirSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { getAddress } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildClientPackage } from '../../scripts/client-package.js'
import * as portable from '../../scripts/client-portable.js'
import { LoggedBundle } from '../../src/registry/auth/bundle.js'
import { canonicalSignature, evidenceEntry } from '../../src/registry/auth/evidence.js'
import { verificationMessage, walletBoundMessage } from '../../src/registry/auth/message.js'
import { parseWalletOrNull } from '../../src/registry/primitives/address.js'
import { decodeBase58 } from '../../src/registry/primitives/base58.js'
import { keccak256 } from '../../src/registry/primitives/keccak.js'
import { hash160, sha256 } from '../../src/registry/primitives/sha256.js'
import { beginningLeaf } from '../../src/registry/transparencyLog/beginning.js'
import { useFolder } from '../support/folder.js'
import { SIGNERS } from '../support/signers.js'

const OPTIONS = { name: 'alice', clusterId: `0x${'1'.repeat(64)}`, network: 'mainnet' } as const
const DOMAIN = 'names.example'
const ATS_MS = Date.UTC(2026, 10, 20)
const OWNER = `0x${'ab'.repeat(20)}`

/** Both logs of a bundle whose members, of all kinds, signed that they belong to it. Some signatures are forged. */
async function logsOfMembers(): Promise<{ events: string[]; entries: string[]; forged: number }> {
  const kinds = Object.values(SIGNERS)
  const key = createHash('sha256').update('packed').digest()
  const accounts = (await Promise.all(kinds.map((kind) => kind.accounts(key)))).flat()
  const leaf = (type: string, from: string, data: object) =>
    JSON.stringify({ v: 1, type, at: ATS_MS, from, data })
  const cluster_id = OPTIONS.clusterId
  const listed = (address: string) =>
    leaf('ADD_WALLET', OWNER, {
      name: 'main',
      address,
      cluster_id,
      is_verified: true,
      is_backed_up: false,
    })
  const events = [
    beginningLeaf(`${DOMAIN}/mainnet/1`, null),
    leaf('CREATE_CLUSTER', OWNER, { cluster_id }),
    listed(OWNER),
    leaf('REGISTER_NAME', OWNER, { name: OPTIONS.name, wei_amount: '1', cluster_id }),
    ...accounts.map(({ address }) => listed(address)),
  ]
  const entries = ['']
  let forged = 0
  for (const [i, account] of accounts.entries()) {
    const wallet = parseWalletOrNull(account.address)!
    const signingDate = new Date(ATS_MS + i).toISOString()
    const bound = { domain: DOMAIN, wallet, chainId: 1, nonce: '0'.repeat(32), signingDate }
    const message =
      i % 2 === 0
        ? walletBoundMessage({ ...bound, membership: OPTIONS })
        : verificationMessage(DOMAIN, signingDate, OPTIONS)
    const signature = canonicalSignature(message, wallet, await account.sign(message))!
    const isForged = i % 3 === 2
    if (isForged) forged++
    entries.push(
      evidenceEntry({
        atMs: ATS_MS + i,
        wallet,
        clusterId: OPTIONS.clusterId,
        message,
        // another byte in the middle
        signature: isForged ? signature.replace(/(.)(.{20})$/, changed) : signature,
        block: null,
      }),
    )
  }
  return { events, entries, forged }
}

const changed = (_: string, digit: string, rest: string): string =>
  `${digit === '1' ? '2' : '1'}${rest}`

async function walletsOf(
  Bundle: typeof LoggedBundle,
  logs: { events: string[]; entries: string[] },
) {
  const bundle = new Bundle({ ...OPTIONS, domains: [DOMAIN] })
  for (const [index, text] of logs.events.entries()) bundle.takeEvent(text, index)
  for (const [index, text] of logs.entries.entries()) bundle.takeEvidence(text, index)
  return bundle.wallets()
}

describe('the packed readers of signatures', () => {
  const folder = useFolder()
  const built = join(folder, 'built')
  const require = createRequire(import.meta.url)
  beforeAll(async () => {
    await buildClientPackage(built)
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  })

  it.each(['esm', 'cjs'])('check the signatures of all kinds as ours do (%s)', async (format) => {
    const [file] = readdirSync(join(built, format)).filter((name) => name.startsWith('bundle-'))
    const path = join(built, format, file!)
    const packed = format === 'cjs' ? require(path) : await import(path)
    const logs = await logsOfMembers()
    const wallets = await walletsOf(packed.LoggedBundle, logs)
    expect(wallets).toEqual(await walletsOf(LoggedBundle, logs))
    const marks = wallets.map(({ evidence }: { evidence: string }) => evidence)
    const signed = marks.filter((mark: string) => mark === 'signed')
    expect(logs.forged).toBeGreaterThan(2)
    expect(signed).toHaveLength(logs.entries.length - 1 - logs.forged)
  })
})

describe('in place of Node', () => {
  const bytes = fc.uint8Array({ maxLength: 80 })
  const text = fc.string({ unit: 'grapheme', maxLength: 80 })
  const ours = portable.Buffer

  it('bytes have the texts that Node’s Buffer gives', () => {
    fc.assert(
      fc.property(bytes, (given) => {
        const wanted = Buffer.from(given)
        for (const encoding of ['hex', 'base64', 'latin1'] as const) {
          const written = wanted.toString(encoding)
          expect(ours.from(given).toString(encoding)).toBe(written)
          expect(ours.from(given).toString(encoding, 1)).toBe(wanted.toString(encoding, 1))
          expect([...ours.from(written, encoding)]).toEqual([...wanted])
        }
        expect([...ours.from(wanted.toString('base64url'), 'base64')]).toEqual([...wanted])
        const inner = new Uint8Array([7, ...given, 7]).subarray(1, -1)
        expect([...ours.from(inner.buffer, inner.byteOffset, inner.length)]).toEqual([...wanted])
        expect(ours.concat([given, given]).equals(Buffer.concat([given, given]))).toBe(true)
        expect(ours.from(given).equals(Buffer.of(...given, 1))).toBe(false)
      }),
    )
  })

  it('texts have the bytes that Node’s Buffer gives', () => {
    fc.assert(
      fc.property(text, (given) => {
        const wanted = Buffer.from(given)
        expect([...ours.from(given)]).toEqual([...wanted])
        expect(ours.from(given).toString()).toBe(wanted.toString())
        expect(ours.byteLength(given)).toBe(wanted.length)
      }),
    )
  })

  it('hashes, addresses and base58 are the same', () => {
    fc.assert(
      fc.property(bytes, (given) => {
        expect(portable.sha256(given, given).equals(sha256(given, given))).toBe(true)
        expect(portable.hash160(given).equals(hash160(given))).toBe(true)
        expect(portable.keccak256(given).equals(keccak256(given))).toBe(true)
        const address = `0x${keccak256(given).toString('hex', 12)}`
        expect(portable.getAddress(address)).toBe(getAddress(address))
        const base58 = portable.default.encode(given)
        expect(decodeBase58(base58, given.length)).toEqual(Buffer.from(given))
        expect(portable.default.decodeUnsafe(`${base58}0`)).toBeUndefined()
      }),
    )
  })
})
