import { createHmac } from 'node:crypto'
import type { Wallet } from '../primitives/address.js'
import { sha256 } from '../primitives/sha256.js'

/** Authentication keys and nonces, derived from the server's token key. Only the hash of a key is stored. */

type WalletAddress = Pick<Wallet, 'type' | 'text'>

const hmac = (tokenKey: Uint8Array, input: string): Buffer =>
  createHmac('sha256', tokenKey).update(input).digest()

/** Input of an HMAC. An empty nonce counts as none. */
const hmacInputOf = ({ type, text }: WalletAddress, signingDate: string, nonce?: string): string =>
  `${type}|${text}|${signingDate}${nonce ? `|${nonce}` : ''}`

/**
 * Authentication key of a wallet and signing date. It does not depend on the signature, so every valid signature of
 * that date gives the same key.
 * @param nonce of the signed message, if the message was made for a `clientNonce`
 * @returns 43 characters of base64url
 */
export const authKey = (
  tokenKey: Uint8Array,
  wallet: WalletAddress,
  signingDate: string,
  nonce?: string,
): string => hmac(tokenKey, hmacInputOf(wallet, signingDate, nonce)).toString('base64url')

const AUTH_KEY_PATTERN = /^[A-Za-z0-9_-]{43}$/

/** Look-up hash of an authentication key; null for malformed text. @returns 32 bytes */
export const authKeyHash = (key: string): Buffer | null =>
  AUTH_KEY_PATTERN.test(key) ? sha256(Buffer.from(key)) : null

const NONCE_BYTES = 16

/** Form of the nonce that a client may send when it requests a message. */
export const CLIENT_NONCE_PATTERN = /^[A-Za-z0-9_-]{16,64}$/

/**
 * Nonce of a message that is bound to an address. Only this server can compute it.
 * @param recovered the wallet whose private key the message requests
 * @param clientNonce secret of the client. A caller that does not know it gets another message for the same date.
 * @returns 32 hex digits
 */
export const walletBoundMessageNonce = (
  tokenKey: Uint8Array,
  wallet: WalletAddress,
  signingDate: string,
  recovered?: WalletAddress,
  clientNonce?: string,
): string =>
  hmac(
    tokenKey,
    `${recovered ? `recover|${recovered.text}` : 'nonce'}|${hmacInputOf(wallet, signingDate, clientNonce)}`,
  )
    .subarray(0, NONCE_BYTES)
    .toString('hex')
