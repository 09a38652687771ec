import type { CommunityPaymentTransaction } from '../../chains/chain.js'
import { findClaimedAccount } from '../../db/airdrop/answers.js'
import { findClusterIdOfWallet } from '../../db/registry/clusters.js'
import { findCommunityRules, readCallerRights } from '../../db/registry/communityNames.js'
import {
  decideRegistration,
  type PaymentPreference,
  type PriceMismatchReason,
  type RegistrationDecisionInputs,
} from '../../registry/community/registration.js'
import { requirementsHash } from '../../registry/community/requirements.js'
import type { CommunityPrice, CommunityRules } from '../../registry/community/rules.js'
import { isChainLabelOfNetwork } from '../../registry/families.js'
import type { ChangeRefusal } from '../../registry/fold/refusal.js'
import { addressToWord, decodeWallet, type Wallet } from '../../registry/primitives/address.js'
import {
  appendChangesOrThrow,
  appendChangesThroughQueue,
  type ChangeAuthor,
  communityRegistrationError,
  refusalError,
} from '../clusters/changes.js'
import { requireClusterId } from '../http/address.js'
import { type Context, chainsOfNetwork } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { requireCaughtUp } from '../http/freshness.js'
import {
  chainsWithCachedBalances,
  nameAvailabilityUnderRules,
  walletMeetsRequirements,
} from './availability.js'
import { type NameBelowCommunity, requireCommunityRules } from './communities.js'

export interface RegistrationRequest extends NameBelowCommunity {
  /** New owner of the name; null for the caller's wallet, where the request names none. */
  wallet: Wallet | null
  /**
   * How `decideRegistration` treats a request without `wallet`. `own` (v1): as a request for the caller's own wallet.
   * `none` (v0.1): refused where only owners of the community register.
   */
  unnamed: 'own' | 'none'
  /** Price to pay; by default the first price that the wallet can pay. */
  preference: Omit<PaymentPreference, 'payer'>
}

export type PaymentToMake = { price: CommunityPrice; transaction: CommunityPaymentTransaction }
export type CommunityRegistrationResult =
  | { kind: 'registered'; owner: Wallet }
  | { kind: 'to_pay'; owner: Wallet; info: PaymentToMake }

/** Result of an attempt whose rules or name changed after they were read. The registration is attempted again. */
interface OvertakenAttempt {
  kind: 'changed'
  refusal: ChangeRefusal
}

/** Maximum attempts at a registration, since rules and names may change while requirements are read. */
const MAX_REGISTRATION_ATTEMPTS = 3

/**
 * Registers a name below a community if it costs nothing, else returns the payment that the new owner has to make. If
 * the wallet holds the name already, the result is the same as after a registration.
 * @throws ApiError of the first problem in the order of REGISTRATION_PROBLEMS; catching_up, unavailable
 * @throws ChainUnavailableError where requirements or the payment need a chain that does not answer
 */
export async function registerCommunityName(
  context: Context,
  author: ChangeAuthor,
  request: RegistrationRequest,
): Promise<CommunityRegistrationResult> {
  for (let tries = 1; ; tries++) {
    const attempt = await attemptRegistration(context, author, request)
    if (attempt.kind !== 'changed') return attempt
    if (tries === MAX_REGISTRATION_ATTEMPTS) throw refusalError(attempt.refusal)
  }
}

async function attemptRegistration(
  context: Context,
  author: ChangeAuthor,
  request: RegistrationRequest,
): Promise<CommunityRegistrationResult | OvertakenAttempt> {
  const { community, name, wallet, preference } = request
  const owner = wallet ?? decodeWallet(author.wallet)
  const rules = await findCommunityRules(context.pool, context.network, community)
  if (rules) await requireCaughtUp(context)
  const readRights = () =>
    readCallerRights(context.pool, context.network, {
      community,
      name,
      caller: author.wallet,
      wallet: owner.bytes,
    })
  const [before, availability] = await Promise.all([
    readRights(),
    nameAvailabilityUnderRules(context, { community, name }, rules),
  ])
  // if the name is not free, an equal request may have registered it after the rights were read, so they are read again
  const standing = availability === 'free' || before.isHeld ? before : await readRights()
  const named = standing.isOwn ? 'own' : 'other'
  const known: RegistrationDecisionInputs = {
    rules,
    preference: { ...preference, payer: owner.type },
    isNetworkKnown:
      preference.network === null || isChainLabelOfNetwork(context.network, preference.network),
    nowMs: Date.now(),
    isOwner: standing.isOwner,
    beneficiary: wallet === null ? request.unnamed : named,
    isTaken: availability !== 'free',
    isHeld: standing.isHeld,
    areRequirementsMet: null,
  }
  const first = decideRegistration(known)
  const areMet =
    first.outcome === 'open' && (await walletMeetsRequirements(context, rules!, owner.bytes))
  const judgement =
    first.outcome === 'open' ? decideRegistration({ ...known, areRequirementsMet: areMet }) : first
  switch (judgement.outcome) {
    case 'refused':
      throw judgement.fault
        ? new ApiError(judgement.problem, PRICE_MISMATCH_MESSAGE[judgement.fault])
        : communityRegistrationError(judgement.problem)
    case 'held':
      return { kind: 'registered', owner }
    case 'paid':
      return {
        kind: 'to_pay',
        owner,
        info: await paymentToMake(context, {
          community,
          name,
          price: judgement.price,
          payer: owner,
        }),
      }
    case 'open':
    case 'free':
      return registerWithoutPayment(context, author, { community, name, owner, rules: rules! })
  }
}

const PRICE_MISMATCH_MESSAGE: Record<PriceMismatchReason, string> = {
  no_network:
    'This is no network of the community: mainnet and testnet have networks of their own.',
  no_price:
    'The community has no such price: GET /v1/communities/{name} shows its networks and tokens.',
  other_payer: 'The community has a price there, and a wallet of this type can not pay it.',
}

async function registerWithoutPayment(
  context: Context,
  author: ChangeAuthor,
  { community, name, owner, rules }: NameBelowCommunity & { owner: Wallet; rules: CommunityRules },
): Promise<CommunityRegistrationResult | OvertakenAttempt> {
  const kind = 'register_community_name'
  const actor = author.wallet
  const met = rules.requirements.length > 0 ? requirementsHash(rules.requirements) : null
  const made = await appendChangesThroughQueue(context, author, {
    changes: [{ kind, actor, community, name, wallet: owner.bytes, met, isAssigned: false }],
  })
  if (made.kind === 'made') return { kind: 'registered', owner }
  const { refusal } = made
  // an equal request may have registered the name for this wallet meanwhile, so the registration is attempted again
  const isOvertaken = refusal.code === 'community' && refusal.problem === 'not_available'
  if (isOvertaken || refusal.code === 'rules_changed') return { kind: 'changed', refusal }
  throw refusalError(refusal)
}

async function paymentToMake(
  context: Context,
  { community, name, price, payer }: NameBelowCommunity & { price: CommunityPrice; payer: Wallet },
): Promise<PaymentToMake> {
  const port = chainsOfNetwork(context).find(({ label }) => label === price.network)
  if (!port)
    throw new ApiError(
      'unavailable',
      `The chain "${price.network}" of the price is not configured here now.`,
    )
  const transaction = await port.communityPayment({
    community,
    name,
    price,
    payer: payer.text,
    referral: null,
  })
  return { price, transaction }
}

/**
 * True if a wallet meets the requirements of a community, or met them some seconds ago.
 * @throws ApiError not_found; ChainUnavailableError
 */
export async function walletMeetsCommunityRequirements(
  context: Context,
  community: string,
  wallet: Wallet,
): Promise<boolean> {
  return walletMeetsRequirements(
    context,
    await requireCommunityRules(context, community),
    wallet.bytes,
    chainsWithCachedBalances(context),
  )
}

/**
 * Registers a name below a community for the caller's cluster (bundle), without a price, once a wallet of the cluster
 * has claimed the community's airdrop. A cluster gets one name per claim. A repeated request gets the same response.
 * @param bundleId expected id of the caller's cluster
 * @throws ApiError invalid_request, not_found, not_in_cluster, forbidden, already_assigned, not_available, catching_up;
 * requirements_not_met before a claim
 */
export async function assignCommunityName(
  context: Context,
  author: ChangeAuthor,
  { community, name, bundleId }: NameBelowCommunity & { bundleId?: string | undefined },
): Promise<void> {
  const { pool } = context
  const requestedId = bundleId === undefined ? null : requireClusterId(bundleId)
  await requireCommunityRules(context, community)
  const clusterId = await findClusterIdOfWallet(pool, context.network, author.wallet, author.wallet)
  if (!clusterId) throw refusalError({ code: 'not_in_cluster', address: null })
  if (requestedId && !requestedId.equals(clusterId)) throw refusalError({ code: 'forbidden' })
  const claim = await findClaimedAccount(pool, {
    network: context.network,
    community,
    clusterId,
    caller: author.wallet,
  })
  if (!claim) throw communityRegistrationError('requirements_not_met')
  const kind = 'register_community_name'
  const actor = author.wallet
  const met = addressToWord(claim)
  await appendChangesOrThrow(context, author, {
    changes: [{ kind, actor, community, name, wallet: actor, met, isAssigned: true }],
  })
}
