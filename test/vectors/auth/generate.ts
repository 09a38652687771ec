/**
 * Writes the golden vectors of authentication: `npx tsx test/vectors/auth/generate.ts`. Nothing in here is code of
 * ours: messages are spelled out, envelopes are put together byte by byte as their specification has them, signatures
 * are viem's and those of @noble/curves and OpenSSL.
 */
import { createHash, createHmac, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { ed25519 } from '@noble/curves/ed25519.js'
import bs58 from 'bs58'
import { type Hex, hashMessage, serializeErc6492Signature, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const DOMAIN = 'names.example'
const DATE = '2026-11-20T08:00:00.000Z'
const TOKEN_KEY = Buffer.alloc(32, 7)
const CHAIN_ID = 31_337
const STATEMENT = 'Before interacting with certain functionality, we require a wallet signature for verification.'
const plain = `${DOMAIN} verification\n\n${STATEMENT}\n\n${DATE}`

const write = (name: string, content: object) =>
  writeFileSync(new URL(`./${name}.json`, import.meta.url), `${JSON.stringify(content, null, 2)}\n`)
const hmac = (text: string) => createHmac('sha256', TOKEN_KEY).update(text).digest()
const nonceOf = (type: string, wallet: string) => hmac(`nonce|${type}|${wallet}|${DATE}`).toString('hex').slice(0, 32)
const keyOf = (type: string, wallet: string) => hmac(`${type}|${wallet}|${DATE}`).toString('base64url')

/** An EIP-4361 message, and its counterpart for Solana. */
const bound = (type: 'evm' | 'solana', stored: string, shown: string) =>
  `${DOMAIN} wants you to sign in with your ${type === 'evm' ? 'Ethereum' : 'Solana'} account:\n${shown}\n\n${STATEMENT}\n\n` +
  `URI: https://${DOMAIN}\nVersion: 1\n${type === 'evm' ? `Chain ID: ${CHAIN_ID}\n` : ''}Nonce: ${nonceOf(type, stored)}\nIssued At: ${DATE}`

interface Vector {
  form: string
  message: string
  wallet: string
  signature: string
  isValid: boolean
}

const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
const account = privateKeyToAccount(`0x${'4c'.repeat(32)}`)
const other = privateKeyToAccount(`0x${'4d'.repeat(32)}`)
const evmWallet = account.address.toLowerCase()
const evmBound = bound('evm', evmWallet, account.address)

async function evm(): Promise<Vector[]> {
  const signature = await account.signMessage({ message: plain })
  const [r, s, v] = [signature.slice(2, 66), signature.slice(66, 130), Number.parseInt(signature.slice(130), 16)]
  const join = (parts: { r?: string; s?: string; v?: number }) =>
    `0x${parts.r ?? r}${parts.s ?? s}${(parts.v ?? v).toString(16).padStart(2, '0')}`
  const highS = (SECP256K1_ORDER - BigInt(`0x${s}`)).toString(16).padStart(64, '0')
  const of = (form: string, text: string, isValid: boolean, message = plain): Vector => ({
    ...{ form, message, wallet: evmWallet, signature: text, isValid },
  })
  return [
    of('personal_sign, v 27 or 28', signature, true),
    of('v 0 or 1', join({ v: v - 27 }), true),
    of('digits in upper case', `0x${signature.slice(2).toUpperCase()}`, true),
    of('the address-bound message', await account.signMessage({ message: evmBound }), true, evmBound),
    of('high s with the other parity', join({ s: highS, v: v === 27 ? 28 : 27 }), false),
    of('high s', join({ s: highS }), false),
    of('the other parity', join({ v: v === 27 ? 28 : 27 }), false),
    of('v of EIP-155', join({ v: v + 10 }), false),
    of('v 2', join({ v: 2 }), false),
    of('r zero', join({ r: '00'.repeat(32) }), false),
    of('s zero', join({ s: '00'.repeat(32) }), false),
    of('r beyond the order', join({ r: 'ff'.repeat(32) }), false),
    of('another account', await other.signMessage({ message: plain }), false),
    of('another date', await account.signMessage({ message: plain.replace('08:00', '08:01') }), false),
    of('another domain', await account.signMessage({ message: plain.replace('names.', 'evil.') }), false),
    of(
      'the hash without prefix',
      await account.sign({ hash: toHex(createHash('sha256').update(plain).digest()) }),
      false,
    ),
  ]
}

const seed = Buffer.alloc(32, 9)
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')
const privateKey = createPrivateKey({ key: Buffer.concat([PKCS8_ED25519, seed]), format: 'der', type: 'pkcs8' })
const publicKey = Buffer.from(createPublicKey(privateKey).export({ format: 'jwk' }).x!, 'base64url')
const solanaWallet = bs58.encode(publicKey)
const solanaBound = bound('solana', solanaWallet, solanaWallet)

/** The envelopes of the specification, put together byte by byte. */
function envelopes(message: Buffer): Record<string, number[]> {
  const domain = [0xff, 0x73, 0x6f, 0x6c, 0x61, 0x6e, 0x61, 0x20, 0x6f, 0x66, 0x66, 0x63, 0x68, 0x61, 0x69, 0x6e]
  const length = [message.length % 256, Math.floor(message.length / 256)]
  const zeros: number[] = new Array(32).fill(0)
  return {
    'version 0, format 0': [...domain, 0, ...zeros, 0, 1, ...publicKey, ...length, ...message],
    'version 0, format 1': [...domain, 0, ...zeros, 1, 1, ...publicKey, ...length, ...message],
    'short header, format 0': [...domain, 0, 0, ...length, ...message],
    'short header, format 1': [...domain, 0, 1, ...length, ...message],
    'version 1': [...domain, 1, 1, ...publicKey, ...message],
  }
}

const ED25519_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n
const littleEndian = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse()
const fromLittleEndian = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)

/**
 * A signature for the all-zero key (a point of order 4), which lenient verifiers take for good: k has to be 0 mod 4.
 */
function forgeForZeroKey(message: Buffer): Buffer {
  const key = Buffer.alloc(32)
  for (let scalar = 1n; ; scalar++) {
    const R = ed25519.Point.BASE.multiply(scalar).toBytes()
    const k = fromLittleEndian(createHash('sha512').update(R).update(key).update(message).digest()) % ED25519_ORDER
    if (k % 4n === 0n) return Buffer.concat([R, littleEndian(scalar)])
  }
}

function solana(): Vector[] {
  const signature = sign(null, Buffer.from(plain), privateKey)
  const malleated = Buffer.concat([
    signature.subarray(0, 32),
    littleEndian(fromLittleEndian(signature.subarray(32)) + ED25519_ORDER),
  ])
  const identity = Buffer.from(`01${'00'.repeat(31)}`, 'hex')
  const of = (form: string, text: string, isValid: boolean, rest: Partial<Vector> = {}): Vector => ({
    ...{ form, message: plain, wallet: solanaWallet, signature: text, isValid, ...rest },
  })
  const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`
  const signed = (bytes: number[] | Buffer) => hex(ed25519.sign(Uint8Array.from(bytes), seed))
  const rfc8032 = {
    message: 'r',
    wallet: bs58.encode(Buffer.from('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c', 'hex')),
  }
  const changed = envelopes(Buffer.from(plain))['version 0, format 1']!.map((byte, i) => (i === 20 ? 1 : byte))
  return [
    of('hex', hex(signature), true),
    of('base58', bs58.encode(signature), true),
    of('base64', signature.toString('base64'), true),
    of('the address-bound message', signed(Buffer.from(solanaBound)), true, { message: solanaBound }),
    of(
      'RFC 8032, 7.1, test 2',
      '0x92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
      true,
      rfc8032,
    ),
    ...Object.entries(envelopes(Buffer.from(plain))).map(([form, bytes]) =>
      of(`envelope, ${form}`, signed(bytes), true),
    ),
    ...Object.entries(envelopes(Buffer.from(solanaBound))).map(([form, bytes]) =>
      of(`envelope of the address-bound message, ${form}`, signed(bytes), true, { message: solanaBound }),
    ),
    of('envelope of another application', signed(changed), false),
    of('envelope of another message', signed(envelopes(Buffer.from('x'))['version 0, format 1']!), false),
    of('S beyond the order', hex(malleated), false),
    of('another key', hex(ed25519.sign(Buffer.from(plain), Buffer.alloc(32, 8))), false),
    of('all zero', hex(Buffer.alloc(64)), false),
    of('key of order 1', hex(Buffer.concat([identity, Buffer.alloc(32)])), false, { wallet: bs58.encode(identity) }),
    of('key of order 4, all zero', hex(forgeForZeroKey(Buffer.from(plain))), false, { wallet: '1'.repeat(32) }),
  ]
}

/** On a fresh anvil whose first account deploys TestSmartWallet (owner: `evm.wallet`), then TestSmartWalletFactory. */
async function smartWallets() {
  const wallet = '0x5fbdb2315678afecb367f032d93f642f64180aa3'
  const factory = '0xe7f1725e7734ce288f8367e1bb143e90bb3f0512'
  const checksummed = '0x5FbDB2315678afecb367f032d93F642f64180aa3'
  const message = bound('evm', wallet, checksummed)
  const signature = await account.signMessage({ message })
  const deploy = `0x4c96a389${evmWallet.slice(2).padStart(64, '0')}` as Hex
  return {
    owner: evmWallet,
    wallet,
    factory,
    erc1271: [
      {
        form: "the owner's, over the address-bound message",
        message,
        hash: hashMessage(message),
        signature,
        isValid: true,
      },
      {
        form: "the owner's, over the plain message",
        message: plain,
        signature: await account.signMessage({ message: plain }),
        isValid: false,
      },
      { form: "a stranger's", message, signature: await other.signMessage({ message }), isValid: false },
    ],
    erc6492: [
      {
        form: 'wrapped, of a wallet that is there',
        message,
        signature: serializeErc6492Signature({ address: factory, data: deploy, signature }),
        isValid: true,
      },
    ],
  }
}

write('messages', {
  domain: DOMAIN,
  signingDate: DATE,
  tokenKey: `0x${TOKEN_KEY.toString('hex')}`,
  chainId: CHAIN_ID,
  plain,
  bound: [
    { type: 'evm', wallet: evmWallet, message: evmBound, key: keyOf('evm', evmWallet) },
    { type: 'solana', wallet: solanaWallet, message: solanaBound, key: keyOf('solana', solanaWallet) },
  ],
})
write('evm', await evm())
write('solana', solana())
write('smart-wallets', await smartWallets())
