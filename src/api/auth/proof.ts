import type { ChainPort, Hex } from '../../chains/chain.js'
import { openSession } from '../../db/auth/sessions.js'
import { parseCompactSignature, parseEvmSignature, personalHash, recoverSigner } from '../../registry/auth/evm.js'
import { authKey, authKeyHash, boundNonce } from '../../registry/auth/key.js'
import { boundMessage, isFresh, parseSigningDate, verificationMessage } from '../../registry/auth/message.js'
import { isSignedBySolana, parseSolanaSignature } from '../../registry/auth/solana.js'
import type { Address, AddressType } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { requireAddress } from '../http/address.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'

/** Signature of a wallet over the service's message. */
export interface Proof {
  signature: string
  signingDate: string
  type: AddressType
  /** The wallet that signed. */
  wallet: string
}

/** Signer of a bound message, and the wallet whose key it asks for, if any. */
export type Signer = Pick<Proof, 'type' | 'wallet'> & { recovered?: string | undefined }

/**
 * The message to sign now: the plain one, or the one that is bound to a wallet. The server stores neither.
 * @returns the message and its last line, the signing date
 */
export function signingMessage(context: Context, signer?: Signer) {
  const signingDate = new Date(context.now()).toISOString()
  if (!signer) return { message: plainMessage(context, signingDate), signingDate }
  const wallet = requireWallet(signer)
  const recovered = signer.recovered === undefined ? undefined : requireAddress(signer.recovered, 'recover')
  return { message: messageFor(context, wallet, { signingDate, recovered }), signingDate }
}

/**
 * Exchanges a signature for the authentication key of its wallet and signing date. The exchange is idempotent.
 * @returns the key
 * @throws ApiError as `requireProof`, and unauthorized where that key was revoked
 */
export async function exchange(context: Context, proof: Proof): Promise<string> {
  const { wallet, signingMs, isPlain } = await requireProof(context, proof)
  const key = authKey(context.tokenKey, wallet, proof.signingDate)
  const isOpen = await openSession(context.pool, {
    keyHash: authKeyHash(key)!,
    wallet: wallet.bytes,
    signingMs,
    // a signature over the bound message, such as a contract's, is never shown again: it is not kept
    signature: isPlain ? proof.signature : '',
    lifetimeMs: context.auth.sessionLifetimeMs,
  })
  if (!isOpen)
    throw new ApiError(
      'unauthorized',
      'The key of this signature was revoked, or newer ones took its place: sign a new message.',
    )
  return key
}

/** Maximum age of a message that asks for a key. */
const RECOVERY_MAX_AGE_MS = 5 * 60_000

/**
 * Verifies that a wallet signed the service's message of a signing date: an account either message, a contract
 * (ERC-1271) the bound one.
 * @param recovered the wallet whose key the message has to ask for: then it is the bound one
 * @returns whether it was the plain message, too
 * @throws ApiError invalid_request and unsupported_address for malformed input; unauthorized for a date out of its
 *   window or another wallet's signature; ChainUnavailableError where only a contract can tell and its chain does not
 *   answer
 */
export async function requireProof(context: Context, proof: Proof, recovered?: Address) {
  const { signingDate } = proof
  const wallet = requireWallet(proof)
  const signingMs = parseSigningDate(signingDate)
  if (signingMs === null)
    throw new ApiError('invalid_request', 'The signingDate is not of the form 2026-11-20T08:00:00.000Z.')
  if (!isFresh(signingMs, context.now(), recovered && RECOVERY_MAX_AGE_MS))
    throw new ApiError('unauthorized', 'The signingDate is too old, or ahead of the time: ask for a new message.')
  const signature = requireSignature(wallet.type, proof.signature)
  const isPlain = !recovered && isSignedByAccount(wallet, plainMessage(context, signingDate), signature)
  if (isPlain) return { wallet, signingMs, isPlain }
  const bound = messageFor(context, wallet, { signingDate, recovered })
  if (!isSignedByAccount(wallet, bound, signature) && !(await isSignedByContract(context, wallet, bound, signature)))
    throw new ApiError('unauthorized', 'The signature is not one of this wallet over the message of this signing date.')
  return { wallet, signingMs, isPlain }
}

/** @throws ApiError unsupported_address */
function requireWallet({ type, wallet }: Pick<Proof, 'type' | 'wallet'>): Address {
  const address = requireAddress(wallet, 'wallet')
  if (address.type !== type) throw new ApiError('unsupported_address', `The wallet is not an address of type ${type}.`)
  return address
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

function isSignedByAccount(wallet: Address, message: string, signature: Hex | Buffer): boolean {
  if (typeof signature !== 'string') return isSignedBySolana(message, signature, wallet.bytes.subarray(1))
  const bytes = parseEvmSignature(signature) ?? parseCompactSignature(signature)
  return bytes !== null && recoverSigner(message, bytes) === wallet.text
}

/** @throws ChainUnavailableError where the contract's chain does not answer */
const isSignedByContract = async (
  context: Context,
  wallet: Address,
  bound: string,
  signature: Hex | Buffer,
): Promise<boolean> =>
  typeof signature === 'string' &&
  ((await hubOf(context)?.isValidSignature({
    wallet: wallet.text as Hex,
    hash: toHex(personalHash(bound)),
    signature,
    acceptsErc6492: context.auth.acceptsErc6492,
    caller: context.caller?.address ?? '',
  })) ??
    false)

/** The mainnet's hub, on which smart wallets verify. */
const hubOf = ({ chains }: Context): ChainPort | undefined =>
  chains.find(({ network, role }) => network === 'mainnet' && role === 'hub')

/** Chain id in the bound message of an EVM wallet where no mainnet hub is configured. */
const ETHEREUM_CHAIN_ID = 1

/** Message that is bound to a wallet, and to the wallet whose key it asks for, if any. */
function messageFor(
  context: Context,
  wallet: Address,
  of: { signingDate: string; recovered?: Address | undefined },
): string {
  const nonce = boundNonce(context.tokenKey, wallet, of.signingDate, of.recovered)
  const chainId = hubOf(context)?.chainId ?? ETHEREUM_CHAIN_ID
  return boundMessage({ ...of, domain: context.auth.serviceDomain, wallet, chainId, nonce })
}
