import { setTimeout } from 'node:timers/promises'
import type { EvmChainPort, Hex } from '../../chains/chain.js'
import { openSession, type SignedMembership } from '../../db/auth/sessions.js'
import { findClusterIdByName } from '../../db/registry/clusters.js'
import { canonicalSignature, evidenceSignatureText } from '../../registry/auth/evidence.js'
import {
  contractSignatureHex,
  parseContractSignature,
  personalSignHash,
} from '../../registry/auth/evm.js'
import {
  authKey,
  authKeyHash,
  CLIENT_NONCE_PATTERN,
  walletBoundMessageNonce,
} from '../../registry/auth/key.js'
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
import { parseClusterId } from '../../registry/primitives/clusterId.js'
import { requireAddressOfPayerType, requireWallet } from '../http/address.js'
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
  /** Address of the wallet that signed. */
  wallet: string
  /** EIP-155 id of the mainnet chain of the wallet's contract. Default: the hub's. */
  chainId?: number | undefined
  /** Random value of the client, a part of the bound message's nonce. Required for an approval on chain. */
  nonce?: string | undefined
  /** Id or name of the cluster that the signed message names as the wallet's. */
  cluster?: string | undefined
}

/** Wallet to which a message is bound, and the generated wallet whose key the message requests, if any. */
export type MessageSigner = Pick<WalletProof, 'type' | 'wallet' | 'chainId' | 'nonce'> & {
  recovered?: string | undefined
}

/**
 * Builds the message to sign now: the plain message, or a message bound to one wallet. The server does not store
 * messages.
 * @param cluster id or name of the cluster that the message names as the wallet's
 * @returns the message and its signing date
 * @throws ApiError invalid_request, invalid_name, not_found, unsupported_address, unsupported_network
 */
export async function signingMessage(context: Context, signer?: MessageSigner, cluster?: string) {
  const signingDate = isoTimestamp(Date.now())
  const membership = await membershipOf(context, cluster)
  if (!signer) return { message: plainMessage(context, signingDate, membership), signingDate }
  const wallet = requireWalletOfType(signer)
  const recovered =
    signer.recovered === undefined
      ? undefined
      : requireAddressOfPayerType(signer.recovered, 'recover')
  if (recovered && membership)
    throw new ApiError('invalid_request', 'The parameters recover and cluster exclude each other.')
  const { named } = findMainnetChains(context, signer)
  const nonce = boundMessageNonce(context, wallet, { ...signer, signingDate }, recovered)
  const parts = { signingDate, recovered, membership, named, nonce }
  return { message: boundMessage(context, wallet, parts), signingDate }
}

/**
 * The network and cluster that a message names; undefined for a message without a cluster.
 * @param cluster id or name
 * @throws ApiError invalid_name, not_found
 */
async function membershipOf(
  { pool, network }: Context,
  cluster?: string,
): Promise<Membership | undefined> {
  if (cluster === undefined) return undefined
  const id =
    parseClusterId(cluster) ?? (await findClusterIdByName(pool, network, requireName(cluster)))
  if (!id) throw new ApiError('not_found', 'No cluster holds this name.')
  return { network, clusterId: toHex(id) }
}

/**
 * Exchanges a signature for the authentication key of its wallet and signing date. The exchange is idempotent.
 * @returns the key
 * @throws ApiError as `requireProof`; unauthorized where the session was revoked or has expired, where the signature is
 * too old, and where newer sessions of the wallet took its place; invalid_name and not_found for the proof's cluster
 */
export async function exchangeProofForKey(context: Context, proof: WalletProof): Promise<string> {
  const quotas = context.caller?.meter.quotas ?? []
  await spendSharedUnits(context.pool, 'sign-ins', quotas, SIGN_IN_COST)
  const membership = await membershipOf(context, proof.cluster)
  const proven = await requireProof(context, proof, { membership })
  const { wallet, signingMs, isPlain, nonce, message } = proven
  const key = authKey(context.auth.tokenKey, wallet, proof.signingDate, nonce)
  const isOpen = await openSession(context.pool, {
    keyHash: authKeyHash(key)!,
    wallet: wallet.bytes,
    signingMs,
    nonce,
    // a signature over a bound message is not stored, because no response returns it
    signature:
      isPlain && proof.signature.length <= MAX_STORED_SIGNATURE_CHARS ? proof.signature : '',
    lifetimeMs: context.auth.sessionLifetimeMs,
    evidence: membership
      ? {
          ...membership,
          ...(await membershipEvidence(context, membership, { ...proof, wallet, message })),
        }
      : null,
  })
  if (!isOpen)
    throw new ApiError(
      'unauthorized',
      'The key of this signature was revoked, newer ones took its place, or it is too old: sign a new message.',
    )
  return key
}

/** Longest signature that a session stores, characters. */
const MAX_STORED_SIGNATURE_CHARS = 300

/** Maximum age of a message that requests the key of a generated wallet. */
const RECOVERY_MAX_AGE_MS = 5 * 60_000

/**
 * Verifies that a wallet signed the service's message of a signing date. The message exists in two forms: plain, and
 * bound to one wallet. The key of a wallet may sign either form; a contract (ERC-1271) has to sign the bound form.
 * @param recovered generated wallet whose private key the caller wants back. Only a bound message that names this
 * wallet is accepted, until `RECOVERY_MAX_AGE_MS` after its signing date
 * @param membership cluster that the message has to name as the wallet's
 * @returns the wallet, the signing date (`signingMs`, Unix ms), the signed `message`, whether it has the plain form,
 * and the bound message's nonce if the client sent one, else an empty text
 * @throws ApiError invalid_request, unsupported_address and unsupported_network for malformed input; unauthorized for a
 * signing date that is too old or in the future, and for another wallet's signature; rate_limited
 * @throws ChainUnavailableError where only a contract can verify the signature and its chain does not answer
 */
export async function requireProof(
  context: Context,
  proof: WalletProof,
  { recovered, membership }: Pick<WalletBoundMessage, 'membership'> & { recovered?: Address } = {},
) {
  const { signingDate } = proof
  const wallet = requireWalletOfType(proof)
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
  const chains = findMainnetChains(context, proof)
  const nonce = boundMessageNonce(context, wallet, proof, recovered)
  const isSigned = requireSignature(proof)
  const plain = plainMessage(context, signingDate, membership)
  const isPlain = !recovered && isSigned(plain, wallet)
  if (isPlain) return { wallet, signingMs, isPlain, nonce: '', message: plain }
  const { named } = chains
  const bound = boundMessage(context, wallet, { signingDate, recovered, membership, named, nonce })
  if (
    !isSigned(bound, wallet) &&
    !(await isSignedByContract(context, { ...proof, wallet: wallet.text }, bound, chains))
  )
    throw new ApiError(
      'unauthorized',
      'The signature is not one of this wallet over the message of this signing date.',
    )
  return { wallet, signingMs, isPlain, nonce: proof.nonce ? nonce : '', message: bound }
}

/**
 * Message, signature and block that are stored as evidence of a membership. The block is null for a key's signature.
 * For a contract's signature it is the newest block of the hub in the tables, null where the tables have none.
 */
async function membershipEvidence(
  { freshness }: Context,
  { clusterId }: Membership,
  { wallet, message, signature }: { wallet: Wallet; message: string; signature: string },
): Promise<Pick<SignedMembership, 'message' | 'signature' | 'block'>> {
  const keySignature = canonicalSignature(message, wallet, signature)
  if (keySignature) return { message, signature: keySignature, block: null }
  const { asOf } = await freshness.mainnet()
  // `asOf` has the form `mainnet 21000000 2026-11-20T08:00:00.000Z`
  const block = asOf === null ? null : Number(asOf.split(' ')[1])
  const signed = { message, signature: contractSignatureHex(signature)!, block }
  return { ...signed, signature: evidenceSignatureText({ ...signed, wallet, clusterId }) }
}

/** The wallet of a proof, whose address has to be of the proof's type. @throws ApiError unsupported_address */
function requireWalletOfType({ type, wallet }: Pick<WalletProof, 'type' | 'wallet'>): Wallet {
  const address = requireWallet(wallet, 'wallet')
  if (walletKindOf(address.type) === type) return address
  throw new ApiError(
    'unsupported_address',
    withUnsupportedForms(`The wallet is not an address of type ${type}.`, type),
  )
}

const plainMessage = (context: Context, signingDate: string, membership?: Membership): string =>
  verificationMessage(context.auth.serviceDomain, signingDate, membership)

/**
 * Parses a proof's signature, whose form depends on the type of wallet.
 * @returns function that checks the signature for a message and a wallet
 * @throws ApiError invalid_request
 */
function requireSignature({ type, signature }: WalletProof): SignatureCheck {
  const check = WALLET_KINDS[type].read(signature)
  if (!check)
    throw new ApiError(
      'invalid_request',
      withUnsupportedForms(`The signature is not ${WALLET_KINDS[type].form}.`, type),
    )
  return check
}

/** Adds to an error's sentence which signatures and accounts of the type are not supported. */
function withUnsupportedForms(sentence: string, type: WalletKindName): string {
  const { refused }: WalletKind = WALLET_KINDS[type]
  return refused ? `${sentence} ${refused}` : sentence
}

/**
 * Mainnet chains whose contracts may verify a proof. Testnets prove nothing, because anybody can create any state on a
 * testnet.
 */
interface MainnetChains {
  hub: EvmChainPort | undefined
  /** The chain that the proof names, by default the hub. */
  named: EvmChainPort | undefined
  others: readonly EvmChainPort[]
}

/**
 * The mainnet chains for a proof. @throws ApiError invalid_request for a chainId of a wallet type that has none;
 * unsupported_network for a chain that is not on the mainnet
 */
function findMainnetChains(
  { chains }: Context,
  { type, chainId }: Pick<WalletProof, 'type' | 'chainId'>,
): MainnetChains {
  const mainnet = evmChainsOfNetwork({ chains, network: 'mainnet' })
  const hub = mainnet.find(({ role }) => role === 'hub')
  const chainsFor = (named: EvmChainPort | undefined) => {
    const others = mainnet.filter((chain) => chain !== hub && chain !== named)
    return { hub, named, others }
  }
  if (chainId === undefined) return chainsFor(hub)
  const { hasChainId }: WalletKind = WALLET_KINDS[type]
  if (!hasChainId)
    throw new ApiError('invalid_request', `Messages of type ${type} have no chainId: leave it out.`)
  const named = mainnet.find((chain) => chain.chainId === chainId)
  if (named) return chainsFor(named)
  const ids = mainnet.map((chain) => chain.chainId).join(', ')
  throw new ApiError(
    'unsupported_network',
    `The chainId ${chainId} is not a mainnet chain of this service. Smart wallets sign in on: ${ids || 'none'}.`,
  )
}

/**
 * Matches signatures without secret bytes: an empty one, or a list of Safe's approvals on chain. Each approval is the
 * owner's address, an unused word and v = 1.
 */
const APPROVAL_PATTERN = /^0x(0{24}[0-9a-f]{104}01)*$/

/**
 * Pause before the call of a contract on one of `others`, ms for each node of its chain. Without the pause, a sign-in
 * would cause a burst of calls where many chains are configured.
 */
const CALL_PACE_MS = 100

/**
 * True if the wallet is a contract that accepts the signature over the bound message. If the wallet has code on the
 * hub, the hub's contract decides. Otherwise the contract on the named chain has to accept the signature, and so has
 * the contract on each other chain that has code at the wallet's address, because somebody else may have deployed the
 * code there. An approval on chain is public, so its message has to contain a secret: the client's nonce.
 * @throws ApiError invalid_request for a factory that is not accepted, and an approval without nonce; unauthorized
 * where another chain's contract does not accept the signature; rate_limited
 * @throws ChainUnavailableError where a chain does not answer
 */
async function isSignedByContract(
  context: Context,
  { type, wallet, signature, nonce }: WalletProof,
  bound: string,
  { hub, named, others }: MainnetChains,
): Promise<boolean> {
  const parsed = type === 'evm' && parseContractSignature(signature)
  if (!parsed || !hub || !named) return false
  if (APPROVAL_PATTERN.test(parsed.signature) && !nonce)
    throw new ApiError(
      'invalid_request',
      'An approval on chain needs a nonce: ask for the message of GET /v1/auth/message with a random nonce, approve that, and send the same nonce to POST /v1/auth/token.',
    )
  const factory = parsed.deployment?.factory
  if (factory && !context.auth.walletFactories.includes(factory))
    throw new ApiError(
      'invalid_request',
      `The signature names the factory ${factory} (ERC-6492), which is not a known one that this service accepts: deploy the wallet first, and send its signature without the factory.`,
    )
  const question = {
    ...parsed,
    wallet: wallet as Hex,
    hash: toHex(personalSignHash(bound)),
    onCall: () => context.caller?.meter.owe(SIGN_IN_NODE_COST),
  }
  if (named === hub && !factory) {
    // one call for `seemsToHaveCode`, and at most one to each node for `isValidSignature`
    await reserveNodeCalls(context, hub.nodes + 1)
    return (
      (await hub.seemsToHaveCode(question.wallet)) &&
      (await hub.isValidSignature(question)) === true
    )
  }
  const chains = [hub, named, ...others]
  await reserveNodeCalls(
    context,
    chains.reduce((sum, { nodes }) => sum + nodes, 0),
  )
  const deployed = { ...question, deployment: null }
  const onHub = await hub.isValidSignature(deployed)
  if (onHub || (onHub === false && named !== hub)) return onHub
  if (!(await named.isValidSignature(question))) return false
  for (const chain of onHub === null ? others : []) {
    await setTimeout(chain.nodes * CALL_PACE_MS)
    if ((await chain.isValidSignature(deployed)) === false)
      throw new ApiError(
        'unauthorized',
        `The wallet has no code on the chain ${hub.chainId}, but code on the chain ${chain.chainId}, which does not accept this signature: deploy it on the chain ${hub.chainId}, whose contract then decides alone.`,
      )
  }
  return true
}

/**
 * Charges node calls in advance to the rate limit that all processes share. The bucket holds no more than one second's
 * units, so that a burst of sign-ins does not become a burst of node calls. @throws ApiError rate_limited
 */
async function reserveNodeCalls({ caller, pool }: Context, calls: number): Promise<void> {
  const quotas = (caller?.meter.quotas ?? []).map(({ bucket, rate }) => ({
    bucket,
    rate: { ...rate, burst: rate.perSecond },
  }))
  await spendSharedUnits(pool, 'sign-in-nodes', quotas, calls * SIGN_IN_NODE_COST)
}

/** Chain id in messages where no mainnet hub is configured. */
const ETHEREUM_CHAIN_ID = 1

/** The message that is bound to a wallet, and to the generated wallet whose key the message requests, if any. */
function boundMessage(
  context: Context,
  wallet: Wallet,
  of: Pick<MainnetChains, 'named'> &
    Pick<WalletBoundMessage, 'signingDate' | 'membership' | 'nonce'> & {
      recovered?: Address | undefined
    },
): string {
  const chainId = of.named?.chainId ?? ETHEREUM_CHAIN_ID
  return walletBoundMessage({ ...of, domain: context.auth.serviceDomain, wallet, chainId })
}

/** Nonce of the message bound to a wallet. @throws ApiError invalid_request for a malformed nonce of the client */
function boundMessageNonce(
  { auth }: Context,
  wallet: Wallet,
  { nonce, signingDate }: Pick<WalletProof, 'nonce' | 'signingDate'>,
  recovered?: Address,
): string {
  if (nonce !== undefined && !CLIENT_NONCE_PATTERN.test(nonce))
    throw new ApiError(
      'invalid_request',
      'The nonce is not 16 to 64 letters, digits, - and _: choose one at random for each message.',
    )
  return walletBoundMessageNonce(auth.tokenKey, wallet, signingDate, recovered, nonce)
}
