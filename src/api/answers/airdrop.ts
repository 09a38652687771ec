import type { DistributorClaim, Hex } from '../../chains/chain.js'
import {
  type Allocation,
  type BundleWallet,
  findBundleAllocations,
  findOpenAirdrop,
  type OpenAirdrop,
  readAirdropPages,
} from '../../db/read/airdrops.js'
import { addressToWord, decodeAddress, decodeWallet } from '../../registry/address.js'
import { proofFromPages, proofPages } from '../../registry/airdropPages.js'
import { toHex } from '../../registry/bytes.js'
import type { Context } from '../context.js'
import { ApiError } from '../errors.js'
import { type ClaimsRequest, type NoTransaction, type Offer, offerOf } from './airdropOffer.js'
import { requireName } from './names.js'

/** A claim as it is answered. Amounts are base units of the token. */
export interface ClaimAnswer {
  address: string
  amount: string
  index: number
  merkleRoot: Hex
  proof: Hex[]
  claimed: boolean
  /** On its chain and not confirmed yet. */
  pending?: true
  /** The transaction that claimed it, where it was seen. */
  tx?: Hex
  /** Who is paid by `transaction`. */
  receiver?: Hex
  transaction?: { to: Hex; data: Hex; value: '0' }
  /** Why there is none. */
  reason?: NoTransaction
}

export interface AirdropAnswer {
  community: string
  total: string
  totalUnclaimed: string
  /** The wallets that were looked at. */
  addresses: string[]
  claims: ClaimAnswer[]
  /** Network label of the chain to claim on. */
  network: string
  distributor: Hex | null
  token: Hex | null
  /** ISO 8601; no claim is taken from then on. */
  endsAt: string | null
}

/**
 * What a community's airdrop gives the wallets of the caller's bundle: all that are verified in it, private ones too. A wallet
 * that is only listed is nobody's proven property, so it is as if it weren't there. A caller in no bundle gets nothing.
 * @throws ApiError invalid_name; not_found where the community has no airdrop
 */
export async function airdropClaims(context: Context, request: ClaimsRequest, input: string): Promise<AirdropAnswer> {
  const { network, session } = request
  const airdrop = await findOpenAirdrop(context.pool, network, requireName(input))
  if (!airdrop) throw new ApiError('not_found', 'This community has no airdrop.')
  const wallets = await findBundleAllocations(context.pool, network, airdrop.airdrop, session.wallet)
  const eligible = wallets.flatMap((wallet) =>
    wallet.allocation ? [{ ...wallet, allocation: wallet.allocation }] : [],
  )
  const numbers = new Set(eligible.flatMap(({ allocation }) => proofPages(allocation.position)))
  const pages = await readAirdropPages(context.pool, network, airdrop.airdrop, numbers)
  const offer = offerOf(context, request, airdrop, wallets)
  const claims = await Promise.all(eligible.map((wallet) => claimOf(airdrop, wallet, pages, offer)))
  const { token, distributor, endsAtS } = airdrop
  return {
    community: airdrop.community,
    total: sumOf(eligible.map(({ allocation }) => allocation)),
    totalUnclaimed: sumOf(eligible.flatMap(({ allocation }) => (allocation.claim?.isConfirmed ? [] : [allocation]))),
    addresses: wallets.map(({ address }) => decodeWallet(address).text),
    claims,
    network: airdrop.label,
    distributor: distributor && toHex(distributor),
    token: token && toHex(token),
    endsAt: endsAtS === null ? null : new Date(endsAtS * 1_000).toISOString(),
  }
}

const sumOf = (allocations: readonly Allocation[]): string =>
  allocations.reduce((sum, { amount }) => sum + amount, 0n).toString()

type EligibleWallet = BundleWallet & { allocation: Allocation }

async function claimOf(
  { merkleRoot }: OpenAirdrop,
  { address, isPrivate, allocation }: EligibleWallet,
  pages: ReadonlyMap<number, Buffer>,
  offer: Offer,
): Promise<ClaimAnswer> {
  const { index, position, amount, claim } = allocation
  const proof = proofFromPages(position, pages).map((hash) => hash.toString('hex'))
  const { type, text } = decodeAddress(address)
  const answer: ClaimAnswer = {
    address: text,
    amount: amount.toString(),
    index,
    merkleRoot: toHex(merkleRoot),
    proof: proof.map((hash): Hex => `0x${hash}`),
    claimed: claim?.isConfirmed ?? false,
    ...(claim && !claim.isConfirmed && { pending: true }),
    ...(claim && { tx: toHex(claim.tx) }),
  }
  if (claim) return { ...answer, reason: claim.isConfirmed ? 'claimed' : 'pending' }
  const words: DistributorClaim = { index, account: addressToWord(address), amount, proof }
  return { ...answer, ...(await offer({ type, text, isPrivate }, words)) }
}
