import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import bs58 from 'bs58'
import { combine, split } from 'shamir-secret-sharing'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { type Address, type AddressType, parseAddress } from '../../registry/primitives/address.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'

/**
 * Keys of generated wallets. A key is split in three, of which two give it back (Shamir over GF(256),
 * `shamir-secret-sharing`): one for the user, one kept here encrypted, one that is given out or thrown away. With a passphrase
 * what is split is the key masked by scrypt(passphrase, address), so that no number of shares gives it without.
 */
export interface GeneratedKey {
  address: Address
  /** 33 bytes each. */
  shares: { user: Uint8Array; server: Uint8Array; recovery: Uint8Array }
}

const SHARES = 3
const THRESHOLD = 2
const KEY_BYTES = 32
export const SHARE_BYTES = KEY_BYTES + 1

/** Makes a key of that type and splits it. The key itself is kept nowhere. */
export async function generateKey(type: AddressType, passphrase?: string): Promise<GeneratedKey> {
  const key = type === 'evm' ? fromHex(generatePrivateKey()) : Buffer.from(ed25519.utils.randomPrivateKey())
  const address = addressOf(type, key)
  const secret = await mask(key, address, passphrase)
  const [user, server, recovery] = await split(new Uint8Array(secret), SHARES, THRESHOLD)
  return { address, shares: { user: user!, server: server!, recovery: recovery! } }
}

/**
 * Puts a key together from two shares.
 * @returns the private key as wallets import it (EVM: 0x hex; Solana: base58 of seed and public key), null when shares and
 *   passphrase don't give the key of this address
 */
export async function recoverKey(
  address: Address,
  shares: readonly [Uint8Array, Uint8Array],
  passphrase?: string,
): Promise<string | null> {
  if (shares[0].at(-1) === shares[1].at(-1)) return null // the same share twice gives nothing
  // the library takes bare Uint8Arrays only
  const secret = Buffer.from(await combine(shares.map((share) => Uint8Array.from(share))))
  const key = await mask(secret, address, passphrase)
  if (!isKey(address.type, key) || addressOf(address.type, key).text !== address.text) return null
  if (address.type === 'evm') return toHex(key)
  return bs58.encode(Buffer.concat([key, address.bytes.subarray(1)]))
}

function isKey(type: AddressType, key: Buffer): boolean {
  if (key.length !== KEY_BYTES) return false
  return type === 'solana' || secp256k1.utils.isValidSecretKey(key)
}

function addressOf(type: AddressType, key: Buffer): Address {
  const text = type === 'evm' ? privateKeyToAddress(toHex(key)).toLowerCase() : bs58.encode(ed25519.getPublicKey(key))
  const address = parseAddress(text)
  if (typeof address === 'string') throw new Error(`a generated key has no ${type} address`)
  return address
}

/** About 60 ms and 32 MiB: OWASP's scrypt settings of 2023 (N 2^15, r 8, p 3). */
const SCRYPT = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 }

/** The key XOR what the passphrase and the address give; its own inverse. Without a passphrase the key itself. */
function mask(key: Buffer, address: Address, passphrase: string | undefined): Promise<Buffer> {
  if (passphrase === undefined) return Promise.resolve(key)
  return new Promise((resolve, reject) => {
    // the salt follows from the address, so that two shares and the passphrase are enough without this service
    const salt = Buffer.concat([Buffer.from('clusterd wallet share'), address.bytes])
    scrypt(passphrase.normalize('NFKC'), salt, KEY_BYTES, SCRYPT, (error, pad) => {
      if (error) reject(error)
      else resolve(Buffer.from(key.map((byte, i) => byte ^ pad[i]!)))
    })
  })
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** What a share is bound to: it opens at no other row. */
const rowOf = (network: Network, address: Buffer): Buffer =>
  Buffer.concat([Buffer.from('wallet share'), Buffer.of(NETWORK_CODE[network]), address])

/** Encrypts a share for the database: nonce, AES-256-GCM ciphertext, tag. */
export function sealShare(key: Uint8Array, network: Network, address: Buffer, share: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(rowOf(network, address))
  return Buffer.concat([nonce, cipher.update(share), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts a share of the database. Throws Error when key, row or bytes are other ones. */
export function openShare(key: Uint8Array, network: Network, address: Buffer, sealed: Buffer): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(rowOf(network, address)).setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    throw new Error('opening a wallet share: SHARE_KEY is not the one it was kept under.')
  }
}
