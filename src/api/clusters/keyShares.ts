import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { ed25519 } from '@noble/curves/ed25519'
import { secp256k1 } from '@noble/curves/secp256k1.js'
import bs58 from 'bs58'
import { combine, split } from 'shamir-secret-sharing'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import type { EncryptedWalletShare } from '../../db/auth/shares.js'
import type { PayerAddressType } from '../../registry/families.js'
import { type Address, parseAddress } from '../../registry/primitives/address.js'
import { fromHex, toHex } from '../../registry/primitives/bytes.js'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'

const SHARES_PER_KEY = 3
const SHARES_TO_RECOVER = 2
const KEY_BYTES = 32
/** A share has one byte more than the key: its x coordinate, which differs between the shares of a key. */
export const KEY_SHARE_BYTES = KEY_BYTES + 1

interface KeyFunctions {
  generate(): Buffer
  isKey(key: Buffer): boolean
  addressOf(key: Buffer): string
  /** Private key in the form that wallets import. @param address the key's address */
  exportKey(key: Buffer, address: Address): string
}

/** Key functions of the wallet types that the service generates. */
const KEY_FUNCTIONS: Partial<Record<PayerAddressType, KeyFunctions>> = {
  evm: {
    generate: () => fromHex(generatePrivateKey()),
    isKey: (key) => secp256k1.utils.isValidSecretKey(key),
    addressOf: (key) => privateKeyToAddress(toHex(key)).toLowerCase(),
    exportKey: toHex,
  },
  solana: {
    generate: () => Buffer.from(ed25519.utils.randomPrivateKey()),
    isKey: () => true,
    addressOf: (key) => bs58.encode(ed25519.getPublicKey(key)),
    exportKey: (key, address) => bs58.encode(Buffer.concat([key, address.bytes.subarray(1)])),
  },
}
export const GENERATED_WALLET_TYPES = Object.keys(KEY_FUNCTIONS) as PayerAddressType[]

/**
 * Generates the key of a wallet and splits it into three shares, of which two recover the key (Shamir over GF(256),
 * `shamir-secret-sharing`). The shares are the user's, the server's (stored encrypted), and a spare one for recovery.
 * The key itself is not stored.
 * @returns the wallet's address, and the shares of 33 bytes
 */
export async function generateKeyShares(type: PayerAddressType) {
  const { generate, addressOf } = KEY_FUNCTIONS[type]!
  const key = generate()
  const address = parseAddress(addressOf(key)) as Address
  // the library rejects subclasses of Uint8Array
  const [user, server, recovery] = await split(
    new Uint8Array(key),
    SHARES_PER_KEY,
    SHARES_TO_RECOVER,
  )
  return { address, shares: { user: user!, server: server!, recovery: recovery! } }
}

/** Recovers the private key in the form that wallets import; null when the shares do not give this address's key. */
export async function recoverKey(
  address: Address,
  shares: readonly [Uint8Array, Uint8Array],
): Promise<string | null> {
  if (shares[0].at(-1) === shares[1].at(-1)) return null // one share, given twice
  const key = Buffer.from(await combine(shares.map((share) => Uint8Array.from(share))))
  const type = KEY_FUNCTIONS[address.type]
  if (key.length !== KEY_BYTES || !type?.isKey(key)) return null
  return type.addressOf(key) === address.text ? type.exportKey(key, address) : null
}

/** Keys that encrypt shares: the current key first, then earlier keys that still decrypt stored shares. */
export type ShareEncryptionKeys = readonly [Uint8Array, ...Uint8Array[]]

const GCM_NONCE_BYTES = 12
const GCM_TAG_BYTES = 16

/** Associated data (AEAD) of an encrypted share, which binds the share to its database row. */
const associatedData = (network: Network, address: Buffer): Buffer =>
  Buffer.concat([Buffer.from('wallet share'), Buffer.of(NETWORK_CODE[network]), address])

const KEY_ID_BYTES = 8

/** Id of a key, stored beside the data that the key encrypts. The id does not reveal the key. */
export const shareEncryptionKeyId = (key: Uint8Array): Buffer =>
  createHmac('sha256', key).update('clusterd share key').digest().subarray(0, KEY_ID_BYTES)

/**
 * Encrypts a share with the first key (AES-256-GCM).
 * @returns the nonce, the ciphertext and the tag in one buffer (`share`), and the key's id
 */
export function encryptKeyShare(
  [key]: ShareEncryptionKeys,
  network: Network,
  address: Buffer,
  share: Uint8Array,
): EncryptedWalletShare {
  const nonce = randomBytes(GCM_NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(associatedData(network, address))
  const sealed = Buffer.concat([nonce, cipher.update(share), cipher.final(), cipher.getAuthTag()])
  return { share: sealed, keyId: shareEncryptionKeyId(key) }
}

/**
 * Decrypts a share with the key whose id is stored beside the share. A share without an id is tried with every key.
 * @throws Error where no key decrypts the share: the key is missing, the share is of another row, or bytes were altered
 */
export function decryptKeyShare(
  keys: ShareEncryptionKeys,
  network: Network,
  address: Buffer,
  { share: sealed, keyId }: EncryptedWalletShare,
): Buffer {
  const aad = associatedData(network, address)
  for (const key of keys) {
    if (keyId !== null && !shareEncryptionKeyId(key).equals(keyId)) continue
    const share = decryptWithKey(key, aad, sealed)
    if (share) return share
  }
  const id = keyId ? keyId.toString('hex') : 'from before keys had ids'
  throw new Error(
    `opening a wallet share: SHARE_KEY has not the key under which it was kept (${id}).`,
  )
}

/** Decrypts a share with one key; null where the authentication tag does not match. */
function decryptWithKey(key: Uint8Array, aad: Buffer, sealed: Buffer): Buffer | null {
  const nonce = sealed.subarray(0, GCM_NONCE_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: GCM_TAG_BYTES })
  decipher.setAAD(aad).setAuthTag(sealed.subarray(-GCM_TAG_BYTES))
  try {
    return Buffer.concat([
      decipher.update(sealed.subarray(GCM_NONCE_BYTES, -GCM_TAG_BYTES)),
      decipher.final(),
    ])
  } catch {
    return null
  }
}
