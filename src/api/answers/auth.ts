import { openSession } from '../../db/sessions.js'
import { type Address, type AddressType, parseAddress } from '../../registry/address.js'
import { parseEvmSignature, recoverSigner } from '../../registry/authEvm.js'
import { authKey, authKeyHash, boundNonce } from '../../registry/authKey.js'
import { boundMessage, isFresh, parseSigningDate, verificationMessage } from '../../registry/authMessage.js'
import { isSignedBySolana, parseSolanaSignature } from '../../registry/authSolana.js'
import { type Context, chainsOf } from '../context.js'
import { ApiError } from '../errors.js'

export interface SigningMessage {
  message: string
  /** ISO 8601, milliseconds, Z: the message ends with it. */
  signingDate: string
}

/** What a wallet sends to prove itself. */
export interface Proof {
  signature: string
  signingDate: string
  type: AddressType
  /** The wallet that signed. */
  wallet: string
}

/** A wallet whose signature was found good. */
export interface Proven {
  wallet: Address
  signingMs: number
}

/** The message to sign now: any wallet's, or the one that is bound to this wallet. Nothing is kept of it. */
export async function signingMessage(
  context: Context,
  wallet?: Pick<Proof, 'type' | 'wallet'>,
): Promise<SigningMessage> {
  const signingDate = new Date(context.now()).toISOString()
  const message = wallet
    ? await messageOf(context, requireWallet(wallet), signingDate)
    : verificationMessage(context.auth.serviceDomain, signingDate)
  return { message, signingDate }
}

/**
 * Exchanges a signature for the authentication key of its wallet and signing date: the same one however often.
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
  /** How old the signing date may be; 10 minutes where not given. */
  maxAgeMs?: number
  /** Only the message that is bound to the wallet counts. */
  isBoundOnly?: boolean
}

/**
 * Checks that a wallet signed the service's message at that date.
 * @throws ApiError invalid_request, unsupported_address for what is malformed; unauthorized for a date out of its window or
 *   a signature that is not the wallet's
 */
export async function requireProof(context: Context, proof: Proof, rules: ProofRules = {}): Promise<Proven> {
  const wallet = requireWallet(proof)
  const signingMs = requireDate(proof.signingDate, context.now(), rules.maxAgeMs)
  const signature = readSignature(wallet, proof.signature)
  const plain = verificationMessage(context.auth.serviceDomain, proof.signingDate)
  if (!rules.isBoundOnly && isSignedBy(wallet, signature, plain)) return { wallet, signingMs }
  if (isSignedBy(wallet, signature, await messageOf(context, wallet, proof.signingDate))) return { wallet, signingMs }
  throw new ApiError('unauthorized', 'The signature is not one of this wallet over the message of this signing date.')
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

/** @throws ApiError invalid_request */
function readSignature({ type }: Address, text: string): Buffer {
  const signature = type === 'evm' ? parseEvmSignature(text) : parseSolanaSignature(text)
  if (!signature)
    throw new ApiError(
      'invalid_request',
      type === 'evm'
        ? 'The signature is not 65 bytes in 0x hex.'
        : 'The signature is not 64 bytes in 0x hex, base58 or base64.',
    )
  return signature
}

const isSignedBy = ({ type, text, bytes }: Address, signature: Buffer, message: string): boolean =>
  type === 'evm' ? recoverSigner(message, signature) === text : isSignedBySolana(message, signature, bytes.subarray(1))

/** The chain that an address-bound message of an EVM wallet names where no mainnet hub is configured. */
const ETHEREUM_CHAIN_ID = 1

async function messageOf(context: Context, wallet: Address, signingDate: string): Promise<string> {
  const nonce = boundNonce(await context.tokenKey(), wallet, signingDate)
  const chainId = chainsOf(context, 'mainnet')[0]?.smartWallets?.chainId ?? ETHEREUM_CHAIN_ID
  return boundMessage({ domain: context.auth.serviceDomain, wallet, chainId, nonce, signingDate })
}
