import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bech32 } from '@scure/base'
import { p2pkh } from '@scure/btc-signer'
import { describe, expect, it } from 'vitest'
import { expectWithin } from '../../../test/setup/processorTime.js'
import { runsOf } from '../../../test/setup/tiers.js'
import { type Account, SIGNERS } from '../../../test/support/signers.js'
import { parseWalletOrNull } from '../primitives/address.js'
import { bip322OutpointOf } from './bitcoin.js'
import {
  storedAddressPatternOf,
  WALLET_KIND_NAMES,
  WALLET_KINDS,
  type WalletKindName,
  walletKindOf,
} from './kinds.js'

/** Number of signatures of each kind to make and check, and of altered ones. */
const SIGNATURE_COUNT = Number(process.env.SIGNATURES ?? runsOf(60))
const PATIENCE_MS = 5_000 + SIGNATURE_COUNT * 100

type Vector = Claim & { form: string; isValid: boolean }
interface Claim {
  message: string
  wallet: string
  signature: string
}
/** Whether a signature proves a wallet, decided like in a sign-in. */
function isProof(kind: WalletKindName, { message, wallet: text, signature }: Claim): boolean {
  const wallet = parseWalletOrNull(text)!
  return (
    walletKindOf(wallet.type) === kind &&
    (WALLET_KINDS[kind].read(signature)?.(message, wallet) ?? false)
  )
}

const sha256d = (bytes: Buffer): Buffer =>
  [1, 2].reduce((hash) => createHash('sha256').update(hash).digest(), bytes)

const keyOf = (i: number): Buffer => createHash('sha256').update(`key ${i}`).digest()

/** Kinds with a signer. A test below names a kind without one. */
const KINDS_WITH_SIGNER = WALLET_KIND_NAMES.filter((kind) => Object.hasOwn(SIGNERS, kind))

/** Text forms in which wallets and their libraries return bytes. */
const TEXT_FORMS: Record<string, (bytes: Buffer) => string> = {
  'hex with 0x': (bytes) => `0x${bytes.toString('hex')}`,
  'hex with 0X, in upper case': (bytes) => `0X${bytes.toString('hex').toUpperCase()}`,
  'hex without 0x': (bytes) => bytes.toString('hex'),
  base64: (bytes) => bytes.toString('base64'),
  'base64 without padding': (bytes) => bytes.toString('base64').replace(/=+$/, ''),
  'base64 of URLs': (bytes) => bytes.toString('base64url'),
  'base64 of URLs, padded': (bytes) =>
    bytes.toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
  'base64 in lines': (bytes) => bytes.toString('base64').replace(/.{64}/g, '$&\r\n'),
}

/** Envelopes around the text of a signature. */
const ENVELOPES: Record<string, (text: string) => string> = {
  blanks: (text) => `  ${text}\t`,
  'line breaks': (text) => `\r\n${text}\n`,
  'a JSON string': (text) => JSON.stringify(text),
  'a JSON field': (text) => JSON.stringify({ signature: text }),
  'fields around it': (text) =>
    JSON.stringify({ address: 'x', signature: text, version: 2 }, null, 2),
  'a short field name': (text) => JSON.stringify({ msg: '0x00', sig: text }),
  'a field in a field': (text) => JSON.stringify({ signed: {}, signature: { signature: text } }),
}

/** Bytes as `JSON.stringify` writes a list, a `Uint8Array` and a `Buffer`. */
const BYTE_LISTS: Record<string, (bytes: Buffer) => string> = {
  'a list': (bytes) => JSON.stringify([...bytes]),
  'a Uint8Array': (bytes) => JSON.stringify(new Uint8Array(bytes)),
  'a Buffer': (bytes) => JSON.stringify(bytes),
  'a field that is a list': (bytes) => JSON.stringify({ publicKey: 'x', signature: [...bytes] }),
}

describe.each(KINDS_WITH_SIGNER.filter((kind) => kind !== 'cosmos'))(
  'signatures of %s in',
  (kind) => {
    const rows: [string, (bytes: Buffer) => string][] = [
      ...Object.entries(BYTE_LISTS),
      ...Object.entries(TEXT_FORMS),
      ...Object.entries(ENVELOPES).map(([around, wrap]): [string, (bytes: Buffer) => string] => [
        `base64, in ${around}`,
        (bytes) => wrap(TEXT_FORMS.base64!(bytes)),
      ]),
    ]
    it.each(rows)('%s prove a wallet, and do not with one bit changed', async (_, write) => {
      const { accounts, decode } = SIGNERS[kind]
      for (const { address: wallet, sign } of await accounts(keyOf(0))) {
        const bytes = decode(await sign('a message'))
        const signature = write(bytes)
        expect(isProof(kind, { message: 'a message', wallet, signature }), signature).toBe(true)
        bytes[40]! ^= 1
        expect(isProof(kind, { message: 'a message', wallet, signature: write(bytes) })).toBe(false)
      }
    })
  },
)

describe('signatures of cosmos in', () => {
  interface Signed {
    pub_key: { type: string; value: string }
    signature: string
  }
  const bytesOf = (text: string) => Buffer.from(text, 'base64')
  const rows: [string, (signed: Signed) => unknown][] = [
    ['fields in another order', ({ pub_key, signature }) => ({ signature, pub_key })],
    [
      'a key with its fields in another order',
      ({ pub_key: { type, value }, signature }) => ({ pub_key: { value, type }, signature }),
    ],
    ['other fields', (signed) => ({ chain: 'x', ...signed, memo: '' })],
    ['the answer of signAmino', (signed) => ({ signed: { memo: '' }, signature: signed })],
    [
      'the JSON of protobuf',
      ({ pub_key, signature }) => ({
        signature,
        pub_key: { '@type': '/cosmos.crypto.secp256k1.PubKey', key: pub_key.value },
      }),
    ],
    ...Object.entries(TEXT_FORMS).map(([form, write]): [string, (signed: Signed) => unknown] => [
      form,
      ({ pub_key, signature }) => ({
        pub_key: { ...pub_key, value: write(bytesOf(pub_key.value)) },
        signature: write(bytesOf(signature)),
      }),
    ]),
  ]
  it.each(rows)('%s prove a wallet, and do not with one bit changed', async (_, write) => {
    const [{ address: wallet, sign }] = (await SIGNERS.cosmos.accounts(keyOf(0))) as [Account]
    const signed: Signed = JSON.parse(await sign('a message'))
    for (const indent of [0, 2]) {
      const signature = `\n${JSON.stringify(write(signed), null, indent)} `
      expect(isProof('cosmos', { message: 'a message', wallet, signature }), signature).toBe(true)
    }
    const bytes = bytesOf(signed.signature)
    bytes[40]! ^= 1
    const altered = JSON.stringify(write({ ...signed, signature: bytes.toString('base64') }))
    expect(isProof('cosmos', { message: 'a message', wallet, signature: altered })).toBe(false)
  })

  it.each(['tendermint/PubKeyMultisigThreshold', 'tendermint/PubKeyEd25519', '', undefined])(
    'a key of type %j are refused',
    async (type) => {
      const [{ sign }] = (await SIGNERS.cosmos.accounts(keyOf(0))) as [Account]
      const signed: Signed = JSON.parse(await sign('a message'))
      const text = JSON.stringify({ ...signed, pub_key: { ...signed.pub_key, type } })
      expect(WALLET_KINDS.cosmos.read(text)).toBeNull()
    },
  )
})

describe('Bitcoin signatures with header', () => {
  const headers = Array.from({ length: 16 }, (_, i) => 27 + i)
  const message = 'a message'

  it.each(headers)(
    '%i prove the addresses of the recovered key, except Taproot',
    async (header) => {
      const [p2pkh, p2sh, p2wpkh, p2tr] = await SIGNERS.bitcoin.accounts(keyOf(0))
      const bytes = SIGNERS.bitcoin.decode(await p2pkh!.sign(message))
      const recovery = (bytes[0]! - 27) & 3
      bytes[0] = header
      const signature = bytes.toString('base64')
      const isItsKey = ((header - 27) & 3) === recovery
      for (const { address: wallet } of [p2pkh!, p2sh!, p2wpkh!])
        expect(isProof('bitcoin', { message, wallet, signature }), wallet).toBe(isItsKey)
      expect(isProof('bitcoin', { message, wallet: p2tr!.address, signature })).toBe(false)
    },
  )

  it.each(headers)('%i prove the P2PKH address of an uncompressed key, and no other', (header) => {
    const key = keyOf(0)
    const { address: wallet } = p2pkh(secp256k1.getPublicKey(key, false))
    const hash = sha256d(Buffer.from(`\x18Bitcoin Signed Message:\n\x09${message}`))
    const signed = secp256k1.sign(hash, key)
    const bytes = Buffer.from([header, ...signed.toBytes('compact')])
    const isItsKey = ((header - 27) & 3) === signed.recovery
    expect(isProof('bitcoin', { message, wallet, signature: bytes.toString('base64') })).toBe(
      isItsKey,
    )
  })

  it.each([0, 26, 43, 255])('%i are refused', async (header) => {
    const [account] = await SIGNERS.bitcoin.accounts(keyOf(0))
    const bytes = SIGNERS.bitcoin.decode(await account!.sign(message))
    bytes[0] = header
    expect(WALLET_KINDS.bitcoin.read(bytes.toString('base64'))).toBeNull()
  })
})

describe('the prefix of BIP-322', () => {
  it.each(['smp', ' smp', 'smp\n'])('%j is accepted before a witness', async (prefix) => {
    for (const { address: wallet, sign } of (await SIGNERS.bitcoin.accounts(keyOf(0))).slice(1)) {
      const claim = {
        message: 'a message',
        wallet,
        signature: `${prefix}${await sign('a message')}`,
      }
      expect(isProof('bitcoin', claim), wallet).toBe(true)
    }
  })

  it('is refused before a signature with a header, and so are other prefixes before a witness', async () => {
    const [p2pkh, p2sh] = await SIGNERS.bitcoin.accounts(keyOf(0))
    const texts = [`smp${await p2pkh!.sign('a')}`]
    for (const prefix of ['ful', 'pof', 'SMP', 'smpsmp', 'smp:', 'xyz'])
      texts.push(`${prefix}${await p2sh!.sign('a')}`)
    for (const text of texts) expect(WALLET_KINDS.bitcoin.read(text), text).toBeNull()
  })
})

describe.each(WALLET_KIND_NAMES)('signatures of the kind %s', (kind) => {
  const path = new URL(`../../../test/vectors/auth/${kind}.json`, import.meta.url)
  const vectors: Vector[] = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : []

  it(`have valid and refused vectors of third-party code, in test/vectors/auth/${kind}.json`, () => {
    expect(new Set(vectors.map(({ isValid }) => isValid))).toEqual(new Set([true, false]))
  })

  it('have a signer of third-party code, in test/support/signers.ts', () => {
    expect(KINDS_WITH_SIGNER).toContain(kind)
  })

  it.each(vectors)('$form: $isValid', (vector) =>
    expect(isProof(kind, vector)).toBe(vector.isValid),
  )

  it(
    'of another library are accepted, and refused with one bit changed',
    async () => {
      const { accounts, decode, encode } = SIGNERS[kind]
      for (let i = 0, made = 0; made < SIGNATURE_COUNT; i++)
        for (const account of await accounts(keyOf(i))) {
          const stored = parseWalletOrNull(account.address)!.bytes.toString('hex')
          expect(
            WALLET_KIND_NAMES.filter((name) =>
              new RegExp(storedAddressPatternOf(name)).test(stored),
            ),
          ).toEqual([kind])
          const message = `line ${i}\n${'ü'.repeat(made % 300)}`
          const signature = await account.sign(message)
          const claim = { message, wallet: account.address, signature }
          expect(isProof(kind, claim), signature).toBe(true)
          const bytes = decode(signature)
          const bit = (made++ * 7_919) % (bytes.length * 8)
          bytes[bit >> 3]! ^= 1 << (bit & 7)
          expect(
            isProof(kind, { ...claim, signature: encode(bytes, signature) }),
            `${signature} ${bit}`,
          ).toBe(false)
        }
    },
    PATIENCE_MS,
  )

  it('prove no other wallet of the same key, and no other message', async () => {
    const all = await Promise.all(KINDS_WITH_SIGNER.map((name) => SIGNERS[name].accounts(keyOf(0))))
    const message = 'a message'
    for (const { address, sign } of await SIGNERS[kind].accounts(keyOf(0))) {
      const signature = await sign(message)
      expect(isProof(kind, { message: `${message}.`, wallet: address, signature })).toBe(false)
      for (const other of all.flat()) {
        // a recovered key proves every address type that is a hash of it
        const isOfKey = /^1/.test(address) && /^(3|bc1q)/.test(other.address)
        expect(
          isProof(other.type, { message, wallet: other.address, signature }),
          other.address,
        ).toBe(isOfKey || other.address === address)
      }
    }
  })

  it('of any other form are refused quickly', async () => {
    const [account] = await SIGNERS[kind].accounts(keyOf(0))
    const signature = await account!.sign('a message')
    const long = ['0', 'A', '{', '[', '"', '\n'].map((letter) => letter.repeat(100_000))
    for (const text of ['', '=', `${signature}=`, `\0${signature}`, ...long])
      expect(expectWithin(500, () => WALLET_KINDS[kind].read(text))).toBeNull()
  })
})

/** Stored addresses of no kind, and of types that no signer above has. */
it.each([
  ['mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn', ['bitcoin']],
  ['n3GNqMveyvaPvUbH469vDRadqpJMPc84JA', ['bitcoin']],
  ['2MzQwSSnBHWHqSAqtTVQ6v47XtaisrJa1Vc', ['bitcoin']],
  ['G'.repeat(56), []],
  ['TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t', []],
  ['ltc1qw508d6qejxtdg4y5r3zarvary0c5xw7kgmn4n9', []],
  ['DH5yaieqoZN36fDVciNyRueRGvGLR3mr7L', []],
  ['bc1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3qccfmv3', ['bitcoin']],
  [bech32.encode('osmo', bech32.toWords(Buffer.alloc(32, 7))), ['cosmos']],
])('the stored address %s belongs to %j', (text, kinds) => {
  const stored = Buffer.from(`\x03${text}`).toString('hex')
  expect(
    WALLET_KIND_NAMES.filter((name) => new RegExp(storedAddressPatternOf(name)).test(stored)),
  ).toEqual(kinds)
})

/** The example messages of BIP-322, with the id of each one's transaction. */
it.each([
  ['', 'c5680aa69bb8d860bf82d4e9cd3504b55dde018de765a91bb566283c545a99a7'],
  ['Hello World', 'b79d196740ad5217771c1098fc4a4b51e0535c32236c71f1ea4d61a2d603352b'],
])('the transaction of BIP-322 for %j has the published id', (message, id) => {
  const script = Buffer.from('00142b05d564e6a7a33c087f16e0f730d1440123799d', 'hex')
  expect(bip322OutpointOf(message, script).subarray(0, 32).reverse().toString('hex')).toBe(id)
})

/** The examples of ENSIP-9, and an account of the bytes 1 to 20. */
it.each([
  ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', '76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac'],
  ['3Ai1JZ8pdJb2ksieUV8FsxSNVJCpoPi8W6', 'a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1887'],
  ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', '0014751e76e8199196d454941c45d1b3a323f1433bd6'],
  ['cosmos1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5lzv7xu', '0102030405060708090a0b0c0d0e0f1011121314'],
  ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', null],
  ['osmo1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5helwsw', null],
])('ENS stores %s as %s', (text, bytes) => {
  const wallet = parseWalletOrNull(text)!
  const { coin } = WALLET_KINDS[walletKindOf(wallet.type)!]
  const isOf = new RegExp(coin.stored).test(wallet.bytes.toString('hex'))
  expect(isOf ? Buffer.from(coin.bytes(wallet)).toString('hex') : null).toBe(bytes)
})
