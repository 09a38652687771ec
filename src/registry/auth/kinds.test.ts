import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { bech32 } from '@scure/base'
import { describe, expect, it } from 'vitest'
import { SIGNERS } from '../../../test/support/signers.js'
import { lookupAddress } from '../primitives/address.js'
import { outpointOf } from './bitcoin.js'
import { KIND_NAMES, KINDS, type KindName, kindOf, storedBy } from './kinds.js'

/** Signatures of each kind that are made and checked, and as many altered ones. */
const COUNT = Number(process.env.SIGNATURES ?? 60)
const PATIENCE_MS = 5_000 + COUNT * 100

interface Claim {
  message: string
  wallet: string
  signature: string
}
/** Tells whether a signature proves a wallet, as a sign-in of a kind decides it. */
function isProof(kind: KindName, { message, wallet: text, signature }: Claim): boolean {
  const wallet = lookupAddress(text)!
  return kindOf(wallet.type) === kind && (KINDS[kind].read(signature)?.(message, wallet) ?? false)
}

const keyOf = (i: number): Buffer => createHash('sha256').update(`key ${i}`).digest()

describe.each(KIND_NAMES)('signatures of the kind %s', (kind) => {
  const { accounts, decode, encode } = SIGNERS[kind]
  const path = new URL(`../../../test/vectors/auth/${kind}.json`, import.meta.url)
  const vectors = JSON.parse(readFileSync(path, 'utf8')) as (Claim & {
    form: string
    isValid: boolean
  })[]

  it.each(vectors)('$form: $isValid', (vector) =>
    expect(isProof(kind, vector)).toBe(vector.isValid),
  )

  it(
    'are taken as another library made them, and none with a bit changed',
    async () => {
      for (let i = 0, made = 0; made < COUNT; i++)
        for (const account of await accounts(keyOf(i))) {
          const stored = lookupAddress(account.address)!.bytes.toString('hex')
          expect(KIND_NAMES.filter((name) => new RegExp(storedBy(name)).test(stored))).toEqual([
            kind,
          ])
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
    const all = await Promise.all(KIND_NAMES.map((name) => SIGNERS[name].accounts(keyOf(0))))
    const message = 'a message'
    for (const { address, sign } of await accounts(keyOf(0))) {
      const signature = await sign(message)
      expect(isProof(kind, { message: `${message}.`, wallet: address, signature })).toBe(false)
      for (const other of all.flat())
        expect(
          isProof(other.type, { message, wallet: other.address, signature }),
          other.address,
        ).toBe(other.address === address)
    }
  })

  it('of any other form are none, at once', async () => {
    const [account] = await accounts(keyOf(0))
    const signature = await account!.sign('a message')
    const startedMs = performance.now()
    const long = ['0', 'A', '{', '[', '"', '\n'].map((letter) => letter.repeat(100_000))
    for (const text of ['', '=', `${signature}=`, `\ufeff${signature}`, ...long])
      expect(KINDS[kind].read(text)).toBeNull()
    expect(performance.now() - startedMs).toBeLessThan(500)
  })
})

/** Stored addresses of no kind, and such as no signer above has. */
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
])('%s, stored, is of %j', (text, kinds) => {
  const stored = Buffer.from(`\x03${text}`).toString('hex')
  expect(KIND_NAMES.filter((name) => new RegExp(storedBy(name)).test(stored))).toEqual(kinds)
})

/** The messages of BIP-322 with the transaction that holds each. */
it.each([
  ['', 'c5680aa69bb8d860bf82d4e9cd3504b55dde018de765a91bb566283c545a99a7'],
  ['Hello World', 'b79d196740ad5217771c1098fc4a4b51e0535c32236c71f1ea4d61a2d603352b'],
])('BIP-322 puts %j into its transaction', (message, id) => {
  const script = Buffer.from('00142b05d564e6a7a33c087f16e0f730d1440123799d', 'hex')
  expect(outpointOf(message, script).subarray(0, 32).reverse().toString('hex')).toBe(id)
})

/** The examples of ENSIP-9, and an account of bytes 1 to 20. */
it.each([
  ['1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', '76a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1888ac'],
  ['3Ai1JZ8pdJb2ksieUV8FsxSNVJCpoPi8W6', 'a91462e907b15cbf27d5425399ebf6f0fb50ebb88f1887'],
  ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', '0014751e76e8199196d454941c45d1b3a323f1433bd6'],
  ['cosmos1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5lzv7xu', '0102030405060708090a0b0c0d0e0f1011121314'],
  ['tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', null],
  ['osmo1qypqxpq9qcrsszg2pvxq6rs0zqg3yyc5helwsw', null],
])('ENS knows %s as %s', (text, bytes) => {
  const wallet = lookupAddress(text)!
  const { coin } = KINDS[kindOf(wallet.type)!]
  const isOf = new RegExp(coin.stored).test(wallet.bytes.toString('hex'))
  expect(isOf ? Buffer.from(coin.bytes(wallet)).toString('hex') : null).toBe(bytes)
})
