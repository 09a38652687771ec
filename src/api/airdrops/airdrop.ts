import { LRUCache } from 'lru-cache'
import type pg from 'pg'
import type { Hex } from '../../chains/chain.js'
import type { OpenAirdrop } from '../../db/airdrop/airdrops.js'
import { type Allocation, type BundleWallet, findBundleAllocations, findOpenAirdrop } from '../../db/airdrop/answers.js'
import { readAirdropProofs } from '../../db/airdrop/proofs.js'
import { addressToWord, decodeAddress } from '../../registry/primitives/address.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { requireName } from '../names/names.js'
import { type Claimant, type ClaimsRequest, type Offer, offerOf, offerTime } from './offer.js'

/** Bytes of the answers that are kept: of some twenty bundles of a hundred wallets. */
const KEPT_BYTES = 8 * 2 ** 20
/** Attempts at an answer, since the operator may replace an airdrop while it is read. */
const TRIES = 3
/** Answers by all that they are made of, for each pool. */
const kept = new WeakMap<pg.Pool, LRUCache<string, Buffer>>()
const newAnswers = () =>
  new LRUCache<string, Buffer>({ maxSize: KEPT_BYTES, sizeCalculation: (text, basis) => text.length + basis.length })

/**
 * Allocations of a community's airdrop to the caller's bundle: to all wallets verified in it, private ones too.
 * Unverified wallets do not count, since nobody has proven them. A caller in no bundle gets an empty answer.
 * @returns the answer as JSON, made anew where anything that it says may have changed
 * @throws ApiError invalid_name; not_found where the community has no airdrop
 */
export async function airdropClaims(context: Context, request: ClaimsRequest, input: string): Promise<Buffer> {
  const community = requireName(input)
  for (let tries = 1; ; tries++) {
    const airdrop = await findOpenAirdrop(context.pool, context.network, community)
    if (!airdrop) throw new ApiError('not_found', 'This community has no airdrop.')
    try {
      return await claimsFrom(context, request, airdrop)
    } catch (error) {
      // one that was replaced or removed between two reads has lost its pages
      if (!(error instanceof RangeError) || tries === TRIES) throw error
    }
  }
}

async function claimsFrom(context: Context, request: ClaimsRequest, airdrop: OpenAirdrop): Promise<Buffer> {
  const { pool, network } = context
  const found = await findBundleAllocations(pool, network, airdrop.airdrop, request.session.wallet)
  const answers = kept.get(pool) ?? newAnswers()
  kept.set(pool, answers)
  const basis = basisOf(context, request, airdrop, found)
  const known = answers.get(basis)
  if (known) return known
  const text = Buffer.from(JSON.stringify(await answerOf(context, request, airdrop, found)))
  answers.set(basis, text)
  return text
}

/** All that an answer depends on, but for what never changes while the process runs. */
function basisOf(
  context: Context,
  { session, link }: ClaimsRequest,
  { airdrop, distributor, token, label, endsAtS, state }: OpenAirdrop,
  found: readonly BundleWallet[],
): string {
  const raw = (bytes: Buffer | null) => bytes?.toString('hex')
  const asked = [
    context.network,
    airdrop,
    raw(distributor),
    raw(token),
    label,
    endsAtS,
    state,
    raw(session.wallet),
    link,
  ]
  const wallets = found.map(({ address, isPrivate, allocation }) => {
    const { index, position, amount, claim } = allocation ?? {}
    return [raw(address), isPrivate, index, position, amount, claim && raw(claim.tx), claim?.isConfirmed].join()
  })
  const { isOver, deadlineS } = offerTime(context, endsAtS)
  return [...asked, isOver, deadlineS, ...wallets].join('\n')
}

async function answerOf(
  context: Context,
  request: ClaimsRequest,
  airdrop: OpenAirdrop,
  found: readonly BundleWallet[],
) {
  const wallets = found.map((wallet): Claimant => {
    const { type, text } = decodeAddress(wallet.address)
    return { type, text, ...wallet }
  })
  const eligible = wallets.flatMap((wallet) => (wallet.allocation ? [{ wallet, allocation: wallet.allocation }] : []))
  const positions = eligible.map(({ allocation }) => allocation.position)
  const proofs = await readAirdropProofs(context.pool, context.network, airdrop.airdrop, positions)
  const offer = offerOf(context, request, airdrop, wallets)
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
    totalUnclaimed: sumOf(eligible.flatMap(({ allocation }) => (allocation.claim?.isConfirmed ? [] : [allocation]))),
    addresses: wallets.map(({ text }) => text),
    claims,
    network: airdrop.label,
    distributor: distributor && toHex(distributor),
    token: token && toHex(token),
    endsAt: endsAtS === null ? null : new Date(endsAtS * 1_000).toISOString(),
  }
}

const sumOf = (allocations: readonly Allocation[]): string =>
  allocations.reduce((sum, { amount }) => sum + amount, 0n).toString()

const claimedBy = ({ tx, isConfirmed }: NonNullable<Allocation['claim']>) =>
  isConfirmed ? { tx: toHex(tx), reason: 'claimed' } : { pending: true, tx: toHex(tx), reason: 'pending' }

interface Eligible {
  merkleRoot: Hex
  wallet: Claimant
  allocation: Allocation
  /** Hashes from leaf to root, hex without 0x. */
  proof: readonly string[]
}

/** Claim as it is answered. Amounts are base units of the token. */
async function claimOf({ merkleRoot, wallet, allocation, proof }: Eligible, offer: Offer) {
  const { index, amount, claim } = allocation
  return {
    address: wallet.text,
    amount: amount.toString(),
    index,
    merkleRoot,
    proof: proof.map((hash): Hex => `0x${hash}`),
    claimed: claim?.isConfirmed ?? false,
    // last: V8 takes long over properties that follow a spread
    ...(claim
      ? claimedBy(claim)
      : await offer(wallet, { index, account: addressToWord(wallet.address), amount, proof })),
  }
}
