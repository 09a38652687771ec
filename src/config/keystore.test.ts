import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useFolder } from '../../test/support/folder.js'
import { logKeysOfSeeds } from '../registry/transparencyLog/signer.js'
import { readEnvironment } from './environment.js'
import { decryptKeystore, encryptKeystore } from './keystore.js'
import { readLogSigningKeys, readRelayerOrEnsKey } from './relayerKey.js'

const SECRET = '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
const PASSWORD = 'testpassword'

/** The test vectors of the Web3 Secret Storage Definition. */
const PBKDF2 = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}
const SCRYPT = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
    ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 262144,
      r: 1,
      p: 8,
      salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
    },
    mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}

const opened = (keystore: unknown, password = PASSWORD) =>
  decryptKeystore(
    typeof keystore === 'string' ? keystore : JSON.stringify(keystore),
    password,
  )?.toString('hex')

describe('a keystore file', () => {
  it('of the specification gives its key, with `Crypto` too', () => {
    expect(opened(PBKDF2)).toBe(SECRET)
    expect(opened(SCRYPT)).toBe(SECRET)
    const { crypto, ...rest } = PBKDF2
    expect(opened({ ...rest, Crypto: crypto })).toBe(SECRET)
  })

  const { mac } = PBKDF2.crypto
  const { kdfparams } = SCRYPT.crypto
  const altered = { ...PBKDF2.crypto, mac: mac.replace('5', '6') }
  const demanding = (more: object) => ({ ...SCRYPT.crypto, kdfparams: { ...kdfparams, ...more } })

  it('with another password gives no key', () => {
    expect(opened(PBKDF2, 'other')).toBeUndefined()
  })

  it.each<[string, string | object]>([
    ['an altered byte', { ...PBKDF2, crypto: altered }],
    ['no text', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['a field of another type', '{"Crypto":1}'],
    ['another version', { ...PBKDF2, version: 1 }],
    ['too much memory', { ...SCRYPT, crypto: demanding({ n: 2 ** 26, r: 8 }) }],
    ['minutes of work', { ...SCRYPT, crypto: demanding({ n: 2 ** 18, r: 8, p: 64 }) }],
  ])('with %s gives no key within seconds', (_, bad) => {
    const startedMs = performance.now()
    expect(opened(bad)).toBeUndefined()
    expect(performance.now() - startedMs).toBeLessThan(5_000)
  })
})

describe('a keystore file that clusterd writes', () => {
  it('can be opened only with its password, and shows the address but not the key', () => {
    const address = '0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b'
    const text = encryptKeystore(Buffer.from(SECRET, 'hex'), PASSWORD, address)
    expect(opened(text)).toBe(SECRET)
    expect(opened(text, 'other')).toBeUndefined()
    expect(JSON.parse(text)).toMatchObject({ version: 3, address: address.slice(2).toLowerCase() })
    expect(text).not.toContain(SECRET)
    expect(encryptKeystore(Buffer.from(SECRET, 'hex'), PASSWORD, address)).not.toBe(text)
  })
})

describe('the relayer’s keys', () => {
  const folder = useFolder()
  const file = (name: string, content: string): string => {
    writeFileSync(join(folder, name), content)
    return join(folder, name)
  }
  const RELAYER_KEYSTORE = file('keystore', JSON.stringify(PBKDF2))
  const RELAYER_PASSWORD_FILE = file('password', `${PASSWORD}\n`)
  const keyOf = (env: Record<string, string>) =>
    readRelayerOrEnsKey('RELAYER', readEnvironment(env).relayerKeySources)

  it('come from the environment, a keystore, or an external signer, or are absent', () => {
    const RELAYER_PRIVATE_KEY = `0x${'01'.repeat(32)}`
    expect(keyOf({})).toBeUndefined()
    expect(keyOf({ RELAYER_PRIVATE_KEY })).toEqual({ privateKey: RELAYER_PRIVATE_KEY })
    expect(keyOf({ RELAYER_KEYSTORE, RELAYER_PASSWORD_FILE })).toEqual({
      privateKey: `0x${SECRET}`,
    })
    const address = `0x${'0a'.repeat(20)}`
    const signer = { RELAYER_SIGNER_URL: 'http://signer:9000', RELAYER_ADDRESS: address }
    expect(keyOf(signer)).toEqual({ signerUrl: 'http://signer:9000', address })
  })

  it.each([
    [{ RELAYER_KEYSTORE }, /RELAYER_PASSWORD_FILE is not set/],
    [
      { RELAYER_KEYSTORE: '/nowhere', RELAYER_PASSWORD_FILE },
      /RELAYER_KEYSTORE: \/nowhere can not be read \(ENOENT\)/,
    ],
    [{ RELAYER_KEYSTORE, RELAYER_PASSWORD_FILE: RELAYER_KEYSTORE }, /can not be opened/],
    [{ RELAYER_SIGNER_URL: 'http://signer' }, /RELAYER_ADDRESS is not set/],
    [{ RELAYER_SIGNER_URL: 'http://signer', RELAYER_KEYSTORE }, /exclude one another/],
  ])('of %o stop the start with one sentence', (env, sentence) => {
    expect(() => keyOf(env)).toThrow(sentence)
    expect(() => keyOf(env)).not.toThrow(PASSWORD)
  })

  it('of the log come from a keystore, before those of the environment', () => {
    const keysOf = (env: Record<string, string>) =>
      readLogSigningKeys(readEnvironment(env).logKeySources).map(({ publicKey }) => publicKey)
    const [newest] = logKeysOfSeeds([Buffer.from(SECRET, 'hex')])
    const [former] = logKeysOfSeeds([Buffer.alloc(32, 1)])
    const LOG_KEY = `0x${'01'.repeat(32)}`
    const kept = { LOG_KEYSTORE: RELAYER_KEYSTORE, LOG_PASSWORD_FILE: RELAYER_PASSWORD_FILE }
    expect(keysOf(kept)).toEqual([newest!.publicKey])
    expect(keysOf({ ...kept, LOG_KEY })).toEqual([newest!.publicKey, former!.publicKey])
    const { LOG_PASSWORD_FILE } = kept
    expect(() => keysOf({ LOG_PASSWORD_FILE })).toThrow(/LOG_KEYSTORE is not/)
  })

  it('on Solana come from a file of solana-keygen too', () => {
    const key = Buffer.from(
      '8a88e3dd7409f195fd52db2d3cba5d72ca6709bf1d94121bf3748801b40f6f5c',
      'hex',
    )
    const of = (env: Record<string, string>) => readEnvironment(env).relayKeys.solana
    const zeros = JSON.stringify([...Buffer.alloc(32, 1), ...key])
    expect(of({ SOLANA_RELAYER_KEY_FILE: file('solana', zeros) })).toHaveLength(64)
    expect(() => of({ SOLANA_RELAYER_KEY_FILE: file('none', '[1,2]') })).toThrow(
      /SOLANA_RELAYER_PRIVATE_KEY of SOLANA_RELAYER_KEY_FILE \(.*none\): is no secret key/,
    )
    expect(of({})).toBeUndefined()
  })
})
