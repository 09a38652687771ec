import type { Hex, SmartWalletPort } from '../../chains/chain.js'
import { openSession } from '../../db/auth/sessions.js'
import { parseEvmSignature, personalHash, recoverSigner } from '../../registry/auth/evm.js'
import { authKey, authKeyHash, boundNonce } from '../../registry/auth/key.js'
import { boundMessage, isFresh, parseSigningDate, verificationMessage } from '../../registry/auth/message.js'
import { isSignedBySolana, parseSolanaSignature } from '../../registry/auth/solana.js'
import { type Address, type AddressType, parseAddress } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { type Context, chainsOf } from '../http/context.js'
import { ApiError } from '../http/errors.js'

export interface SigningMessage {
  message: string
  /** ISO 8601, milliseconds, Z: the last line of the message. */
  signingDate: string
}

/** Signature of a wallet over the service's message. */
export interface Proof {
  signature: string
  signingDate: string
  type: AddressType
  /** The wallet that signed. */
  wallet: string
}

/** A wallet whose signature was verified. */
export interface Proven {
  wallet: Address
  signingMs: number
}

/** The message to sign now: the plain one, or the one that is bound to a wallet. The server stores neither. */
export async function signingMessage(
  context: Context,
  wallet?: Pick<Proof, 'type' | 'wallet'>,
): Promise<SigningMessage> {
  const signingDate = new Date(context.now()).toISOString()
  const message = wallet
    ? await messageFor(context, requireWallet(wallet), signingDate)
    : plainMessage(context, signingDate)
  return { message, signingDate }
}

/**
 * Exchanges a signature for the authentication key of its wallet and signing date. The exchange is idempotent.
 * @returns the key
 * @throws ApiError as `requireProof`, and unauthorized where that key was revoked
 */
export async function exchange(context: Context, proof: Proof): Promise<string> {
  const { wallet, signingMs } = await requireProof(context, proof)
  const key = authKey(await context.tokenKey(), wallet, proof.signingDate)
  const createdMs = context.now()
  const isOpen = await openSession(context.pool, {
    keyHash: authKeyHash(key)!,
    wallet: wallet.bytes,
    signingMs,
    signature: proof.signature,
    createdMs,
    expiresMs: createdMs + context.auth.sessionLifetimeMs,
  })
  if (!isOpen) throw new ApiError('unauthorized', 'The key of this signature was revoked: sign a new message.')
  return key
}

export interface ProofRules {
  /** Maximum age of the signing date; default 10 minutes. */
  maxAgeMs?: number
  /** The signature has to be over the message that is bound to the wallet. */
  isBoundOnly?: boolean
}

/**
 * Verifies that a wallet signed the service's message of a signing date.
 * @throws ApiError invalid_request and unsupported_address for malformed input; unauthorized for a date out of its
 *   window or another wallet's signature; ChainUnavailableError where only a contract can tell and its chain does not
 *   answer
 */
export async function requireProof(context: Context, proof: Proof, rules: ProofRules = {}): Promise<Proven> {
  const wallet = requireWallet(proof)
  const signingMs = requireDate(proof.signingDate, context.now(), rules.maxAgeMs)
  if (!(await isSignedBy(context, wallet, proof, rules.isBoundOnly ?? false)))
    throw new ApiError('unauthorized', 'The signature is not one of this wallet over the message of this signing date.')
  return { wallet, signingMs }
}

function isSignedBy(context: Context, wallet: Address, proof: Proof, isBoundOnly: boolean): Promise<boolean> {
  switch (wallet.type) {
    case 'evm':
      return isSignedByEvm(context, wallet, proof, isBoundOnly)
    case 'solana':
      return isSignedBySolanaWallet(context, wallet, proof, isBoundOnly)
  }
}

/** @throws ApiError unsupported_address */
function requireWallet({ type, wallet }: Pick<Proof, 'type' | 'wallet'>): Address {
  const address = parseAddress(wallet)
  if (address === 'bad_checksum')
    throw new ApiError('unsupported_address', 'The checksum of the wallet (EIP-55) is wrong.')
  if (address === 'unsupported_address' || address.type !== type)
    throw new ApiError('unsupported_address', `The wallet is not an address of type ${type}.`)
  return address
}

/** @throws ApiError invalid_request, unauthorized */
function requireDate(text: string, nowMs: number, maxAgeMs?: number): number {
  const ms = parseSigningDate(text)
  if (ms === null) throw new ApiError('invalid_request', 'The signingDate is not of the form 2026-11-20T08:00:00.000Z.')
  if (!isFresh(ms, nowMs, maxAgeMs))
    throw new ApiError('unauthorized', 'The signingDate is too old, or ahead of the time: ask for a new message.')
  return ms
}

const plainMessage = (context: Context, signingDate: string): string =>
  verificationMessage(context.auth.serviceDomain, signingDate)

/** @throws ApiError invalid_request */
async function isSignedBySolanaWallet(
  context: Context,
  wallet: Address,
  { signature: text, signingDate }: Proof,
  isBoundOnly: boolean,
): Promise<boolean> {
  const signature = parseSolanaSignature(text)
  if (!signature) throw new ApiError('invalid_request', 'The signature is not 64 bytes in 0x hex, base58 or base64.')
  const key = wallet.bytes.subarray(1)
  if (!isBoundOnly && isSignedBySolana(plainMessage(context, signingDate), signature, key)) return true
  return isSignedBySolana(await messageFor(context, wallet, signingDate), signature, key)
}

const BYTES_HEX = /^0x(?:[0-9a-fA-F]{2})+$/
/** Bound on the signature of a smart wallet, many times what known ones need. */
const SIGNATURE_LIMIT_BYTES = 8_192

/**
 * Accepts an account's signature over either message, else a contract's (ERC-1271) over the bound one.
 * @throws ApiError invalid_request; ChainUnavailableError where the contract's chain does not answer
 */
async function isSignedByEvm(
  context: Context,
  wallet: Address,
  { signature, signingDate }: Proof,
  isBoundOnly: boolean,
): Promise<boolean> {
  if (signature.length > 2 + 2 * SIGNATURE_LIMIT_BYTES || !BYTES_HEX.test(signature))
    throw new ApiError('invalid_request', `The signature is not 1 to ${SIGNATURE_LIMIT_BYTES} bytes in 0x hex.`)
  const bound = await messageFor(context, wallet, signingDate)
  const messages = isBoundOnly ? [bound] : [plainMessage(context, signingDate), bound]
  const bytes = parseEvmSignature(signature)
  if (bytes && messages.some((message) => recoverSigner(message, bytes) === wallet.text)) return true
  const contract = smartWalletsOf(context)
  if (!contract) return false
  return contract.isValidSignature({
    wallet: wallet.text as Hex,
    hash: toHex(personalHash(bound)),
    signature: signature as Hex,
    acceptsErc6492: context.auth.acceptsErc6492,
  })
}

/** Port to smart wallets, which verify on the mainnet's hub. */
const smartWalletsOf = (context: Context): SmartWalletPort | undefined =>
  chainsOf({ chains: context.chains, network: 'mainnet' }).find(({ role }) => role === 'hub')?.smartWallets

/** Chain id in the bound message of an EVM wallet where no mainnet hub is configured. */
const ETHEREUM_CHAIN_ID = 1

/** Message that is bound to a wallet. */
async function messageFor(context: Context, wallet: Address, signingDate: string): Promise<string> {
  const nonce = boundNonce(await context.tokenKey(), wallet, signingDate)
  const chainId = smartWalletsOf(context)?.chainId ?? ETHEREUM_CHAIN_ID
  return boundMessage({ domain: context.auth.serviceDomain, wallet, chainId, nonce, signingDate })
}
