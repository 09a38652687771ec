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

/** Signature of a wallet over the service's message. */
export interface Proof {
  signature: string
  signingDate: string
  type: AddressType
  /** The wallet that signed. */
  wallet: string
}

/**
 * The message to sign now: the plain one, or the one that is bound to a wallet. The server stores neither.
 * @returns the message and its last line, the signing date
 */
export async function signingMessage(context: Context, wallet?: Pick<Proof, 'type' | 'wallet'>) {
  const signingDate = new Date(context.now()).toISOString()
  const message = wallet
    ? await messageFor(context, requireWallet(wallet), signingDate)
    : plainMessage(context, signingDate)
  return { message, signingDate }
}

/** Longest signature of an account: 65 bytes in `0x` hex. Those of contracts, up to 16 KB of text, are not kept. */
const ACCOUNT_SIGNATURE_CHARS = 132

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
    signature: proof.signature.length > ACCOUNT_SIGNATURE_CHARS ? '' : proof.signature,
    createdMs,
    expiresMs: createdMs + context.auth.sessionLifetimeMs,
  })
  if (!isOpen)
    throw new ApiError(
      'unauthorized',
      'The key of this signature was revoked, or newer ones took its place: sign a new message.',
    )
  return key
}

interface ProofRules {
  /** Maximum age of the signing date; default 10 minutes. */
  maxAgeMs?: number
  /** The signature has to be over the message that is bound to the wallet. */
  isBoundOnly?: boolean
}

/**
 * Verifies that a wallet signed the service's message of a signing date: an account either message, a contract
 * (ERC-1271) the bound one.
 * @throws ApiError invalid_request and unsupported_address for malformed input; unauthorized for a date out of its
 *   window or another wallet's signature; ChainUnavailableError where only a contract can tell and its chain does not
 *   answer
 */
export async function requireProof(context: Context, proof: Proof, { maxAgeMs, isBoundOnly }: ProofRules = {}) {
  const { signingDate } = proof
  const wallet = requireWallet(proof)
  const signingMs = requireDate(signingDate, context.now(), maxAgeMs)
  const signature = requireSignature(wallet.type, proof.signature)
  const bound = await messageFor(context, wallet, signingDate)
  const messages = isBoundOnly ? [bound] : [plainMessage(context, signingDate), bound]
  const isSigned =
    typeof signature === 'string'
      ? isSignedByAccount(wallet, messages, signature) || (await isSignedByContract(context, wallet, bound, signature))
      : messages.some((message) => isSignedBySolana(message, signature, wallet.bytes.subarray(1)))
  if (!isSigned)
    throw new ApiError('unauthorized', 'The signature is not one of this wallet over the message of this signing date.')
  return { wallet, signingMs }
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

const BYTES_HEX = /^0x(?:[0-9a-fA-F]{2})+$/
/** Bound on the signature of a smart wallet, many times what known ones need. */
const SIGNATURE_LIMIT_BYTES = 8_192

/** The hex of an EVM signature, or the bytes of Solana's. @throws ApiError invalid_request */
function requireSignature(type: AddressType, text: string): Hex | Buffer {
  if (type === 'evm') {
    if (text.length <= 2 + 2 * SIGNATURE_LIMIT_BYTES && BYTES_HEX.test(text)) return text as Hex
    throw new ApiError('invalid_request', `The signature is not 1 to ${SIGNATURE_LIMIT_BYTES} bytes in 0x hex.`)
  }
  const signature = parseSolanaSignature(text)
  if (!signature) throw new ApiError('invalid_request', 'The signature is not 64 bytes in 0x hex, base58 or base64.')
  return signature
}

function isSignedByAccount(wallet: Address, messages: readonly string[], signature: Hex): boolean {
  const bytes = parseEvmSignature(signature)
  return bytes !== null && messages.some((message) => recoverSigner(message, bytes) === wallet.text)
}

/** @throws ChainUnavailableError where the contract's chain does not answer */
const isSignedByContract = async (context: Context, wallet: Address, bound: string, signature: Hex): Promise<boolean> =>
  (await smartWalletsOf(context)?.isValidSignature({
    wallet: wallet.text as Hex,
    hash: toHex(personalHash(bound)),
    signature,
    acceptsErc6492: context.auth.acceptsErc6492,
  })) ?? false

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
