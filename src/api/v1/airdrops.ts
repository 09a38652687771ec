import type { AirdropDistributorClaim, ClaimPermissionSigner, Hex } from '../../chains/chain.js'
import type { AirdropWithoutClaimCounts } from '../../db/airdrop/airdrops.js'
import {
  type AllocationWithClaim,
  findAirdropWithoutClaimCounts,
  findClaimableAirdrops,
  findClusterAllocations,
  type WalletWithAllocation,
} from '../../db/airdrop/answers.js'
import { readAirdropProofs } from '../../db/airdrop/pages.js'
import { mapInTurns } from '../../ops/turns.js'
import { addressToWord, decodeWallet, type Wallet } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { COMMUNITY_WITHOUT_PRICE } from '../examples.js'
import { EvmTransactionSchema } from '../families/evm.js'
import { okAnswer } from '../http/answer.js'
import { type Context, evmChainsOfNetwork } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { declareRoute, type Session } from '../http/route.js'
import { namedObjectSchema, okResponses, z } from '../http/schema.js'
import { isoTimestamp } from '../http/timestamps.js'
import { chargeForListItems, SIGNATURES_AT_ONCE } from '../limits/costs.js'
import { requireName } from '../names/names.js'
import { addressSchema, nameSchema } from './schemas.js'

/** Reasons why a claim has no transaction. */
const NO_TRANSACTION_REASONS = [
  /** The claim is confirmed. */
  'claimed',
  /** The claim is on its chain, and not confirmed yet. */
  'pending',
  /** The distributor is not deployed yet. */
  'no_distributor',
  /** The airdrop has ended. */
  'ended',
  /** The transaction would link a private wallet with other wallets on chain. `link=true` permits it. */
  'private_wallet',
  /** A wallet that is no EVM account is paid through a verified EVM wallet, and the cluster has none. */
  'no_evm_wallet',
  /** A wallet other than an EVM account needs a permission, and the operator has set no key that signs permissions. */
  'no_operator',
  /** The distributor's chain is not configured. */
  'chain_not_served',
] as const
type NoTransactionReason = (typeof NO_TRANSACTION_REASONS)[number]

interface ClaimsRequest {
  session: Pick<Session, 'wallet' | 'type'>
  /** True if the transaction may link private wallets with other wallets on chain. */
  link: boolean
  /** Signs permissions; null where only EVM accounts can claim. */
  signer: ClaimPermissionSigner | null
}

/**
 * Longest lifetime of a claim permission, seconds. Its deadline is rounded down to `PERMISSION_ROUNDING_S`, so that
 * requests within ten minutes share a signature.
 */
const PERMISSION_LIFETIME_S = 3_600
const PERMISSION_ROUNDING_S = 600

/** Verified wallet of the caller's cluster, with its allocation. */
type ClaimingWallet = WalletWithAllocation & Pick<Wallet, 'type' | 'text'>

type RefusedClaim = { reason: NoTransactionReason }
interface OfferedClaim {
  /** Account that receives the tokens. */
  receiver: Hex
  /** Account that has to send the transaction; absent where any account may send it. */
  sender?: Hex
  transaction: { to: Hex; data: Hex; value: '0' }
}

/** Returns the transaction that claims an allocation, or the reason why it has no transaction. */
type ClaimTransactionBuilder = (
  claimant: ClaimingWallet,
  claim: AirdropDistributorClaim,
) => Promise<OfferedClaim | RefusedClaim>

/**
 * Creates the builder of a cluster's claim transactions for an airdrop. An EVM account claims for itself. The tokens of
 * any other account go to an EVM wallet of the cluster, with a permission signed by the operator's key; any account may
 * send this transaction. A transaction links a private wallet with other wallets only if the request sets `link`.
 */
function createClaimTransactionBuilder(
  context: Context,
  { session, link, signer }: ClaimsRequest,
  { distributor, endsAtS, state, label }: AirdropWithoutClaimCounts,
  wallets: readonly ClaimingWallet[],
): ClaimTransactionBuilder {
  if (!distributor || endsAtS === null) return createRefusingBuilder('no_distributor')
  const nowS = Math.floor(Date.now() / 1_000)
  if (state === 'ended' || nowS >= endsAtS) return createRefusingBuilder('ended')
  const deadlineS = Math.min(
    endsAtS - 1,
    nowS - (nowS % PERMISSION_ROUNDING_S) + PERMISSION_LIFETIME_S,
  )
  const port = evmChainsOfNetwork(context).find((chain) => chain.label === label)
  if (!port) return createRefusingBuilder('chain_not_served')
  const to = toHex(distributor)
  const transactionOf = (data: Hex): OfferedClaim['transaction'] => ({ to, data, value: '0' })
  const receiverOfOthers = chooseReceiver(session, wallets, link)
  return async ({ type, text, isPrivate }, claim) => {
    if (isPrivate && !link) return { reason: 'private_wallet' }
    if (type === 'evm')
      return {
        receiver: text as Hex,
        transaction: transactionOf(port.claimData(claim)),
        sender: text as Hex,
      }
    if (!signer) return { reason: 'no_operator' }
    if ('reason' in receiverOfOthers) return receiverOfOthers
    const { receiver } = receiverOfOthers
    const signature = await signer.sign({
      chainId: port.chainId,
      distributor: to,
      to: receiver,
      deadlineS: BigInt(deadlineS),
      index: BigInt(claim.index),
      account: claim.account,
    })
    return {
      receiver,
      transaction: transactionOf(port.claimForData(claim, { to: receiver, deadlineS, signature })),
    }
  }
}

const createRefusingBuilder =
  (reason: NoTransactionReason): ClaimTransactionBuilder =>
  async () => ({ reason })

/**
 * EVM wallet that receives the tokens of the cluster's non-EVM accounts: the caller's wallet if it is an EVM account,
 * else the cluster's oldest public EVM wallet, else its oldest private one. The transaction shows the receiver beside
 * the other account, so a private receiver needs `link`.
 */
function chooseReceiver(
  { wallet, type }: ClaimsRequest['session'],
  wallets: readonly ClaimingWallet[],
  link: boolean,
): Pick<OfferedClaim, 'receiver'> | RefusedClaim {
  const evm = wallets.filter((one) => one.type === 'evm')
  const callerWallet = evm.find(({ address }) => address.equals(wallet))
  const chosen = type === 'evm' ? callerWallet : (evm.find(({ isPrivate }) => !isPrivate) ?? evm[0])
  if (!chosen) return { reason: 'no_evm_wallet' }
  return chosen.isPrivate && !link ? { reason: 'private_wallet' } : { receiver: chosen.text as Hex }
}

/** Maximum number of attempts to read the claims, because the operator may replace an airdrop between two reads. */
const MAX_CLAIM_READ_ATTEMPTS = 3

/**
 * Allocations of a community's airdrop to the wallets verified in the caller's cluster (bundle), private wallets
 * included. Unverified wallets are left out, because nobody has proven that they belong to the caller. The list is
 * empty for a caller in no cluster.
 * @throws ApiError invalid_name; not_found where the community has no airdrop
 */
async function airdropClaims(context: Context, request: ClaimsRequest, input: string) {
  const community = requireName(input)
  for (let tries = 1; ; tries++) {
    const airdrop = await findAirdropWithoutClaimCounts(context.pool, context.network, community)
    if (!airdrop) throw new ApiError('not_found', 'This community has no airdrop.')
    try {
      return await readClaims(context, request, airdrop)
    } catch (error) {
      // the stored pages of an airdrop's Merkle tree disappear when the operator replaces or removes the airdrop
      // between two reads
      if (!(error instanceof RangeError) || tries === MAX_CLAIM_READ_ATTEMPTS) throw error
    }
  }
}

async function readClaims(
  context: Context,
  request: ClaimsRequest,
  airdrop: AirdropWithoutClaimCounts,
) {
  const rows = await findClusterAllocations(
    context.pool,
    context.network,
    airdrop.airdrop,
    request.session.wallet,
  )
  const wallets = rows.map((wallet): ClaimingWallet => {
    const { type, text } = decodeWallet(wallet.address)
    return { type, text, ...wallet }
  })
  const eligible = wallets.flatMap((wallet) =>
    wallet.allocation ? [{ wallet, allocation: wallet.allocation }] : [],
  )
  const positions = eligible.map(({ allocation }) => allocation.position)
  const proofs = await readAirdropProofs(context.pool, context.network, airdrop.airdrop, positions)
  const offer = createClaimTransactionBuilder(context, request, airdrop, wallets)
  const merkleRoot = toHex(airdrop.merkleRoot)
  const claims = await mapInTurns(
    context.turn,
    eligible,
    ({ wallet, allocation }) =>
      claimJson({ merkleRoot, wallet, allocation, proof: proofs.get(allocation.position)! }, offer),
    SIGNATURES_AT_ONCE,
  )
  const { token, distributor, endsAtS } = airdrop
  return {
    community: airdrop.community,
    total: sumOfAmounts(eligible.map(({ allocation }) => allocation)),
    totalUnclaimed: sumOfAmounts(
      eligible.flatMap(({ allocation }) => (allocation.claim?.isConfirmed ? [] : [allocation])),
    ),
    addresses: wallets.map(({ text }) => text),
    claims,
    network: airdrop.label,
    distributor: distributor && toHex(distributor),
    token: token && toHex(token),
    endsAt: endsAtS === null ? null : isoTimestamp(endsAtS * 1_000),
  }
}

const sumOfAmounts = (allocations: readonly AllocationWithClaim[]): string =>
  allocations.reduce((sum, { amount }) => sum + amount, 0n).toString()

const claimedFields = ({ tx, isConfirmed }: NonNullable<AllocationWithClaim['claim']>) =>
  isConfirmed
    ? { tx: toHex(tx), reason: 'claimed' }
    : { pending: true, tx: toHex(tx), reason: 'pending' }

interface EligibleWallet {
  merkleRoot: Hex
  wallet: ClaimingWallet
  allocation: AllocationWithClaim
  /** Merkle proof of the allocation: sibling hashes on the way from the leaf to the root, hex without 0x. */
  proof: readonly string[]
}

/** JSON of a wallet's claim. Amounts are base units of the token. */
async function claimJson(
  { merkleRoot, wallet, allocation, proof }: EligibleWallet,
  offer: ClaimTransactionBuilder,
) {
  const { index, amount, claim } = allocation
  return {
    address: wallet.text,
    amount: amount.toString(),
    index,
    merkleRoot,
    proof: proof.map((hash): Hex => `0x${hash}`),
    claimed: claim?.isConfirmed ?? false,
    // the spread is last, because V8 is slow at properties that follow a spread
    ...(claim
      ? claimedFields(claim)
      : await offer(wallet, { index, account: addressToWord(wallet.address), amount, proof })),
  }
}

const amountSchema = z
  .string()
  .openapi({ description: 'Base units of the token', example: '1000000000000000000' })
const wordSchema = z.string().openapi({ format: 'hex', description: '0x and 64 hex digits' })
const contractSchema = z.string().openapi({ format: 'hex', description: 'Address of a contract' })

const claimNetworkSchema = z
  .string()
  .openapi({ description: 'Network label of the chain to claim on', example: '8453' })
const endsAtSchema = z.string().describe('ISO 8601; claims are refused from then on')

const ClaimSchema = namedObjectSchema('AirdropClaim', {
  address: addressSchema,
  amount: amountSchema,
  index: z.int().describe('Index in the leaf `[uint256 index, bytes32 account, uint256 amount]`'),
  merkleRoot: wordSchema,
  proof: z.array(wordSchema),
  claimed: z.boolean().describe('Its claim is confirmed on its chain'),
  pending: z.literal(true).optional().describe('Its claim was seen and is not confirmed yet'),
  tx: wordSchema.optional().describe('The transaction that claimed it, where one was seen'),
  receiver: addressSchema.optional().describe('Address that `transaction` pays'),
  sender: addressSchema
    .optional()
    .describe('Address that has to send `transaction`; absent where any address may'),
  transaction: EvmTransactionSchema.optional().describe('Transaction that claims it'),
  reason: z.enum(NO_TRANSACTION_REASONS).optional().describe('Why there is no transaction'),
})

const createClaimRoute = (signer: ClaimPermissionSigner | null) =>
  declareRoute.get('/v1/airdrop/claim/:community', {
    privateDataFor: 'members',
    costliestSample: { what: 'of 1,000 wallets', as: 'owner' },
    example: { status: 404, params: { community: COMMUNITY_WITHOUT_PRICE } },
    listBounds: {
      'addresses[]': 'rule: 1,000 wallets a cluster; a hash for each level of the tree',
      'claims[]': 'rule: 1,000 wallets a cluster; a hash for each level of the tree',
      'claims[].proof[]': 'rule: 1,000 wallets a cluster; a hash for each level of the tree',
    },
    summary: 'The claims of the caller’s bundle from an airdrop, with transactions',
    description:
      'Includes every wallet that is verified in the caller’s bundle, also private ones. An EVM account sends its own transaction, which pays it. A Solana account’s share goes to the caller’s EVM wallet, else to the bundle’s oldest, by a permission that is valid for an hour.',
    auth: 'required',
    params: z.object({ community: nameSchema }),
    query: z.object({
      link: z
        .enum(['true'])
        .optional()
        .describe(
          'Exactly `true` also returns transactions that reveal on chain that a private wallet belongs to the same owner as another wallet',
        ),
    }),
    responses: okResponses(
      'Total "0" and no claims where the bundle has no allocation',
      namedObjectSchema('AirdropClaims', {
        community: nameSchema,
        total: amountSchema,
        totalUnclaimed: amountSchema,
        addresses: z.array(addressSchema).describe('The verified wallets of the bundle'),
        claims: z.array(ClaimSchema),
        network: claimNetworkSchema,
        distributor: contractSchema.nullable(),
        token: contractSchema.nullable(),
        endsAt: endsAtSchema.nullable(),
      }),
    ),
    errors: ['invalid_name', 'not_found'],
    async handle({ params, query, session }, context) {
      const link = query.get('link') === 'true'
      const claims = await airdropClaims(context, { session, link, signer }, params.community!)
      const items = claims.addresses.length + claims.claims.length
      // a transaction that any account may send has a permission
      const isSigned = (claim: object) => 'transaction' in claim && !('sender' in claim)
      return chargeForListItems(okAnswer(claims), items, claims.claims.filter(isSigned).length)
    },
  })

const MAX_LISTED_AIRDROPS = 100

const airdropsRoute = declareRoute.get('/v1/airdrops', {
  refusedSample: null,
  costliestSample: {},
  listBounds: { '[]': 'rule: the newest 100 of those that the operator has loaded' },
  summary: 'The airdrops that can be claimed',
  description: 'The newest first. `GET /v1/airdrop/claim/{community}` returns a bundle’s claims.',
  responses: okResponses(
    'Airdrops with a deployed distributor that have not ended',
    z.array(
      z.object({
        community: nameSchema,
        network: claimNetworkSchema,
        total: amountSchema,
        token: contractSchema,
        distributor: contractSchema,
        endsAt: endsAtSchema,
      }),
    ),
  ),
  async handle(_request, { pool, network }) {
    const nowS = Math.floor(Date.now() / 1_000)
    const rows = await findClaimableAirdrops(pool, network, nowS, MAX_LISTED_AIRDROPS)
    return okAnswer(
      rows.map(({ community, label, total, token, distributor, endsAtS }) => ({
        community,
        network: label,
        total: String(total),
        token: toHex(token),
        distributor: toHex(distributor),
        endsAt: isoTimestamp(endsAtS * 1_000),
      })),
    )
  },
})

/** Routes of airdrops. @param signer signs permissions; null where only EVM accounts can claim */
export const airdropRoutes = (signer: ClaimPermissionSigner | null) => [
  airdropsRoute,
  createClaimRoute(signer),
]
