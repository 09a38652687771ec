import type { EvmChainPort, Hex } from '../../chains/chain.js'
import { openSession, type SignedMembership } from '../../db/auth/sessions.js'
import { findClusterIdByName } from '../../db/registry/clusters.js'
import { canonicalSignature } from '../../registry/auth/evidence.js'
import {
  contractSignatureHex,
  parseContractSignature,
  personalSignHash,
} from '../../registry/auth/evm.js'
import { authKey, authKeyHash, walletBoundMessageNonce } from '../../registry/auth/key.js'
import type { SignatureCheck, WalletKind } from '../../registry/auth/kind.js'
import { WALLET_KINDS, type WalletKindName, walletKindOf } from '../../registry/auth/kinds.js'
import {
  isSigningDateFresh,
  type Membership,
  parseSigningDate,
  verificationMessage,
  type WalletBoundMessage,
  walletBoundMessage,
} from '../../registry/auth/message.js'
import type { Address, Wallet } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { requireAddress, requireClusterId, requireWallet } from '../http/address.js'
import { type Context, evmChainsOfNetwork } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { isoTimestamp } from '../http/timestamps.js'
import { SIGN_IN_COST, SIGN_IN_NODE_COST } from '../limits/costs.js'
import { spendSharedUnits } from '../limits/shared.js'
import { requireName } from '../names/names.js'

/** Signature of a wallet over the service's message. */
export interface WalletProof {
  signature: string
  signingDate: string
  type: WalletKindName
  /** The wallet that signed. */
  wallet: string
  /** EIP-155 id of the mainnet chain of the wallet's contract. Default: the hub's. */
  chainId?: number | undefined
  /** Cluster to which the wallet says that it belongs, by its id or a name. */
  cluster?: string | undefined
}

/** Wallet to which a message is bound, and the generated wallet whose key the message requests, if any. */
export type MessageSigner = Pick<WalletProof, 'type' | 'wallet' | 'chainId'> & {
  recovered?: string | undefined
}

/**
 * Builds the message to sign now: the plain message, or a message bound to one wallet. The server stores neither.
 * @param cluster to which the signature shall say that its wallet belongs
 * @returns the message and its signing date
 */
export async function signingMessage(context: Context, signer?: MessageSigner, cluster?: string) {
  const signingDate = isoTimestamp(Date.now())
  const membership = await membershipIn(context, cluster)
  if (!signer) return { message: plainMessage(context, signingDate, membership), signingDate }
  const wallet = requireOfType(signer)
  const recovered =
    signer.recovered === undefined ? undefined : requireAddress(signer.recovered, 'recover')
  if (recovered && membership)
    throw new ApiError('invalid_request', 'The parameters recover and cluster exclude each other.')
  const { named } = mainnetChains(context, signer)
  const of = { signingDate, recovered, membership, named }
  return { message: messageFor(context, wallet, of), signingDate }
}

/** The membership that a message names. @throws ApiError invalid_name, not_found */
async function membershipIn(
  { pool, network }: Context,
  cluster?: string,
): Promise<Membership | undefined> {
  if (cluster === undefined) return undefined
  const id = CLUSTER_ID.test(cluster)
    ? requireClusterId(cluster)
    : await findClusterIdByName(pool, network, requireName(cluster))
  if (!id) throw new ApiError('not_found', 'No cluster holds this name.')
  return { network, clusterId: toHex(id) }
}

const CLUSTER_ID = /^0x[\da-f]{64}$/i

/**
 * Exchanges a signature for the authentication key of its wallet and signing date. The exchange is idempotent.
 * @returns the key
 * @throws ApiError as `requireProof`, unauthorized where the key was revoked, and rate_limited
 */
export async function exchangeProofForKey(context: Context, proof: WalletProof): Promise<string> {
  const quotas = context.caller?.meter.quotas ?? []
  await spendSharedUnits(context.pool, 'sign-ins', quotas, SIGN_IN_COST)
  const membership = await membershipIn(context, proof.cluster)
  const { wallet, signingMs, isPlain, message } = await requireProof(context, proof, { membership })
  const key = authKey(context.auth.tokenKey, wallet, proof.signingDate)
  const isOpen = await openSession(context.pool, {
    keyHash: authKeyHash(key)!,
    wallet: wallet.bytes,
    signingMs,
    // no response returns a signature over the bound message, such as a contract's, so it is not stored
    signature: isPlain && proof.signature.length <= KEPT_CHARS ? proof.signature : '',
    lifetimeMs: context.auth.sessionLifetimeMs,
    evidence: membership
      ? { ...membership, ...(await signedBy(context, wallet, { message, ...proof })) }
      : null,
  })
  if (!isOpen)
    throw new ApiError(
      'unauthorized',
      'The key of this signature was revoked, or newer ones took its place: sign a new message.',
    )
  return key
}

/** Longest signature that a session stores, characters. */
const KEPT_CHARS = 300

/** Maximum age of a message that requests the key of a generated wallet. */
const RECOVERY_MAX_AGE_MS = 5 * 60_000

/**
 * Verifies that a wallet signed the service's message of a signing date. The message exists in two forms: plain, and
 * bound to one wallet. An account may sign either form; a contract (ERC-1271) has to sign the bound form.
 * @param recovered wallet whose key the message has to request; only a bound message can request a key
 * @param membership what the message has to say of the wallet's cluster
 * @returns the message that was signed, and whether it is the plain one
 * @throws ApiError invalid_request, unsupported_address and unsupported_network for malformed input; unauthorized for a
 * date outside its window or another wallet's signature; rate_limited
 * @throws ChainUnavailableError where only a contract can verify the signature and its chain does not answer
 */
export async function requireProof(
  context: Context,
  proof: WalletProof,
  { recovered, membership }: Pick<WalletBoundMessage, 'membership'> & { recovered?: Address } = {},
) {
  const { signingDate } = proof
  const wallet = requireOfType(proof)
  const signingMs = parseSigningDate(signingDate)
  if (signingMs === null)
    throw new ApiError(
      'invalid_request',
      'The signingDate is not of the form 2026-11-20T08:00:00.000Z.',
    )
  if (!isSigningDateFresh(signingMs, Date.now(), recovered && RECOVERY_MAX_AGE_MS))
    throw new ApiError(
      'unauthorized',
      'The signingDate is too old, or ahead of the time: ask for a new message.',
    )
  const chains = mainnetChains(context, proof)
  const isSigned = requireSignature(proof)
  const plain = plainMessage(context, signingDate, membership)
  const isPlain = !recovered && isSigned(plain, wallet)
  if (isPlain) return { wallet, signingMs, isPlain, message: plain }
  const { named } = chains
  const bound = messageFor(context, wallet, { signingDate, recovered, membership, named })
  if (
    !isSigned(bound, wallet) &&
    !(await isSignedByContract(context, { ...proof, wallet: wallet.text }, bound, chains))
  )
    throw new ApiError(
      'unauthorized',
      'The signature is not one of this wallet over the message of this signing date.',
    )
  return { wallet, signingMs, isPlain, message: bound }
}

/** The signature of a membership as its evidence has it. */
async function signedBy(
  { freshness }: Context,
  wallet: Wallet,
  { message, signature }: { message: string; signature: string },
): Promise<Pick<SignedMembership, 'message' | 'signature' | 'block'>> {
  const ofKey = canonicalSignature(message, wallet, signature)
  if (ofKey) return { message, signature: ofKey, block: null }
  const ofContract = contractSignatureHex(signature)!
  const { asOf } = await freshness.mainnet()
  // `mainnet 21000000 2026-11-20T08:00:00.000Z`
  return {
    message,
    signature: ofContract,
    block: asOf === null ? null : Number(asOf.split(' ')[1]),
  }
}

/** The wallet of a proof, whose address has to be of the proof's type. @throws ApiError unsupported_address */
function requireOfType({ type, wallet }: Pick<WalletProof, 'type' | 'wallet'>): Wallet {
  const address = requireWallet(wallet, 'wallet')
  if (walletKindOf(address.type) === type) return address
  throw new ApiError(
    'unsupported_address',
    withRefused(`The wallet is not an address of type ${type}.`, type),
  )
}

const plainMessage = (context: Context, signingDate: string, membership?: Membership): string =>
  verificationMessage(context.auth.serviceDomain, signingDate, membership)

/** Reads a proof's signature, in the form of the proof's type of wallet. @throws ApiError invalid_request */
function requireSignature({ type, signature }: WalletProof): SignatureCheck {
  const check = WALLET_KINDS[type].read(signature)
  if (!check)
    throw new ApiError(
      'invalid_request',
      withRefused(`The signature is not ${WALLET_KINDS[type].form}.`, type),
    )
  return check
}

function withRefused(sentence: string, type: WalletKindName): string {
  const { refused }: WalletKind = WALLET_KINDS[type]
  return refused ? `${sentence} ${refused}` : sentence
}

/** Mainnet chains of a proof. Testnets prove nothing, because anybody can have any state there. */
interface MainnetChains {
  hub: EvmChainPort | undefined
  /** The chain that the proof names. */
  named: EvmChainPort | undefined
}

/** @throws ApiError invalid_request, and unsupported_network for another chain than one of the mainnet's */
function mainnetChains(
  { chains }: Context,
  { type, chainId }: Pick<WalletProof, 'type' | 'chainId'>,
): MainnetChains {
  const mainnet = evmChainsOfNetwork({ chains, network: 'mainnet' })
  const hub = mainnet.find(({ role }) => role === 'hub')
  if (chainId === undefined) return { hub, named: hub }
  const { hasChainId }: WalletKind = WALLET_KINDS[type]
  if (!hasChainId)
    throw new ApiError('invalid_request', `Messages of type ${type} have no chainId: leave it out.`)
  const named = mainnet.find((chain) => chain.chainId === chainId)
  if (named) return { hub, named }
  const ids = mainnet.map((chain) => chain.chainId).join(', ')
  throw new ApiError(
    'unsupported_network',
    `The chainId ${chainId} is not a mainnet chain of this service. Smart wallets sign in on: ${ids || 'none'}.`,
  )
}

/**
 * True if the wallet is a contract that accepts the signature over the bound message. A wallet that has code on the hub is
 * decided by the hub, so that nobody who has its address on another chain can act for it.
 * @throws ApiError invalid_request for a factory that is not accepted, rate_limited
 * @throws ChainUnavailableError where a chain does not answer
 */
async function isSignedByContract(
  context: Context,
  { type, wallet, signature }: WalletProof,
  bound: string,
  { hub, named }: MainnetChains,
): Promise<boolean> {
  const parsed = type === 'evm' && parseContractSignature(signature)
  if (!parsed || !hub || !named) return false
  const factory = parsed.deployment?.factory
  if (factory && !context.auth.walletFactories.includes(factory))
    throw new ApiError(
      'invalid_request',
      `The signature names the factory ${factory} (ERC-6492), which is not a known one that this service accepts: deploy the wallet first, and send its signature without the factory.`,
    )
  // of the hub one more node is asked for code
  await reserveCalls(context, hub.nodes + (named === hub ? 1 : named.nodes))
  const question = {
    ...parsed,
    wallet: wallet as Hex,
    hash: toHex(personalSignHash(bound)),
    onCall: () => context.caller?.meter.owe(SIGN_IN_NODE_COST),
  }
  if (named === hub)
    return (
      (parsed.deployment !== null || (await hub.seemsToHaveCode(question.wallet))) &&
      (await hub.isValidSignature(question)) === true
    )
  const onHub = await hub.isValidSignature({ ...question, deployment: null })
  return (onHub ?? (await named.isValidSignature(question))) === true
}

/**
 * Counts calls that may follow in the limit of all processes, which holds a second's units, not a burst: a burst of
 * sign-ins must be no burst of calls. @throws ApiError rate_limited
 */
async function reserveCalls({ caller, pool }: Context, calls: number): Promise<void> {
  const quotas = (caller?.meter.quotas ?? []).map(({ bucket, rate }) => ({
    bucket,
    rate: { ...rate, burst: rate.perSecond },
  }))
  await spendSharedUnits(pool, 'sign-in-nodes', quotas, calls * SIGN_IN_NODE_COST)
}

/** Chain id in messages where no mainnet hub is configured. */
const ETHEREUM_CHAIN_ID = 1

/** Message bound to a wallet, and to the wallet whose key it requests, if any. */
function messageFor(
  context: Context,
  wallet: Wallet,
  of: Pick<MainnetChains, 'named'> &
    Pick<WalletBoundMessage, 'signingDate' | 'membership'> & { recovered?: Address | undefined },
): string {
  const nonce = walletBoundMessageNonce(context.auth.tokenKey, wallet, of.signingDate, of.recovered)
  const chainId = of.named?.chainId ?? ETHEREUM_CHAIN_ID
  return walletBoundMessage({ ...of, domain: context.auth.serviceDomain, wallet, chainId, nonce })
}
