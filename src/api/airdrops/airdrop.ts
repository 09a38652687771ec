import type { Hex } from '../../chains/chain.js'
import type { AirdropWithoutClaimCounts } from '../../db/airdrop/airdrops.js'
import {
  type AllocationWithClaim,
  findAirdropWithoutClaimCounts,
  findClusterAllocations,
} from '../../db/airdrop/answers.js'
import { readAirdropProofs } from '../../db/airdrop/pages.js'
import { addressToWord, decodeWallet } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { isoTimestamp } from '../http/timestamps.js'
import { requireName } from '../names/names.js'
import {
  type ClaimingWallet,
  type ClaimsRequest,
  type ClaimTransactionBuilder,
  createClaimTransactionBuilder,
} from './offer.js'

/** Attempts to read the claims: the operator may replace an airdrop between two reads. */
const TRIES = 3

/**
 * Allocations of a community's airdrop to the wallets verified in the caller's cluster (bundle), private wallets
 * included. Unverified wallets are left out, because nobody has proven that they belong to the caller. A caller in no
 * cluster gets an empty list.
 * @throws ApiError invalid_name; not_found where the community has no airdrop
 */
export async function airdropClaims(context: Context, request: ClaimsRequest, input: string) {
  const community = requireName(input)
  for (let tries = 1; ; tries++) {
    const airdrop = await findAirdropWithoutClaimCounts(context.pool, context.network, community)
    if (!airdrop) throw new ApiError('not_found', 'This community has no airdrop.')
    try {
      return await answerOf(context, request, airdrop)
    } catch (error) {
      // the stored pages of an airdrop's Merkle tree disappear when the operator replaces or removes the airdrop
      // between two reads
      if (!(error instanceof RangeError) || tries === TRIES) throw error
    }
  }
}

async function answerOf(
  context: Context,
  request: ClaimsRequest,
  airdrop: AirdropWithoutClaimCounts,
) {
  const found = await findClusterAllocations(
    context.pool,
    context.network,
    airdrop.airdrop,
    request.session.wallet,
  )
  const wallets = found.map((wallet): ClaimingWallet => {
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
  const claims = await Promise.all(
    eligible.map(({ wallet, allocation }) =>
      claimOf({ merkleRoot, wallet, allocation, proof: proofs.get(allocation.position)! }, offer),
    ),
  )
  const { token, distributor, endsAtS } = airdrop
  return {
    community: airdrop.community,
    total: sumOf(eligible.map(({ allocation }) => allocation)),
    totalUnclaimed: sumOf(
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

const sumOf = (allocations: readonly AllocationWithClaim[]): string =>
  allocations.reduce((sum, { amount }) => sum + amount, 0n).toString()

const claimedBy = ({ tx, isConfirmed }: NonNullable<AllocationWithClaim['claim']>) =>
  isConfirmed
    ? { tx: toHex(tx), reason: 'claimed' }
    : { pending: true, tx: toHex(tx), reason: 'pending' }

interface Eligible {
  merkleRoot: Hex
  wallet: ClaimingWallet
  allocation: AllocationWithClaim
  /** Hashes from leaf to root, hex without 0x. */
  proof: readonly string[]
}

/** A wallet's claim as the response shows it. Amounts are base units of the token. */
async function claimOf(
  { merkleRoot, wallet, allocation, proof }: Eligible,
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
    // spread last: V8 is slow at properties that follow a spread
    ...(claim
      ? claimedBy(claim)
      : await offer(wallet, { index, account: addressToWord(wallet.address), amount, proof })),
  }
}
