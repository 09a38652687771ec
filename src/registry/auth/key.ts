import { createHash, createHmac } from 'node:crypto'
import type { Address } from '../primitives/address.js'

/** How authentication keys and nonces follow from the server's token key. A key is never stored, only its hash. */

type Wallet = Pick<Address, 'type' | 'text'>

const hmac = (tokenKey: Uint8Array, input: string): Buffer => createHmac('sha256', tokenKey).update(input).digest()
const inputOf = ({ type, text }: Wallet, signingDate: string): string => `${type}|${text}|${signingDate}`

/**
 * The authentication key of a wallet and signing date: the same one whenever, and with whatever form of a signature,
 * the message is exchanged.
 * @returns 43 characters of base64url
 */
export const authKey = (tokenKey: Uint8Array, wallet: Wallet, signingDate: string): string =>
  hmac(tokenKey, inputOf(wallet, signingDate)).toString('base64url')

const KEY = /^[A-Za-z0-9_-]{43}$/

/** What a key is looked up by, null for a text that is no key in form. @returns 32 bytes */
export const authKeyHash = (key: string): Buffer | null =>
  KEY.test(key) ? createHash('sha256').update(key).digest() : null

const NONCE_BYTES = 16

/**
 * The nonce of an address-bound message: nobody else can make a message that binds an address. @returns 32 hex digits
 */
export const boundNonce = (tokenKey: Uint8Array, wallet: Wallet, signingDate: string): string =>
  hmac(tokenKey, `nonce|${inputOf(wallet, signingDate)}`)
    .subarray(0, NONCE_BYTES)
    .toString('hex')
