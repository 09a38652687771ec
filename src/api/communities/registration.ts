import type { EvmCommunityPayment, SolanaCommunityPayment } from '../../chains/chain.js'
import { readWalletFacts } from '../../chains/walletFacts.js'
import { hasClaimed } from '../../db/airdrop/read.js'
import { findClusterId } from '../../db/registry/clusters.js'
import { verifiedInClusters } from '../../db/registry/communities.js'
import { communityNameAvailability, findCommunityRules, standingOf } from '../../db/registry/communityNames.js'
import { judgeRegistration, type RegistrationFacts } from '../../registry/community/registration.js'
import { areRequirementsMet } from '../../registry/community/requirements.js'
import type { CommunityPrice, CommunityRules } from '../../registry/community/rules.js'
import { requirementsHash } from '../../registry/journal/communityChange.js'
import { type Address, decodeAddress } from '../../registry/primitives/address.js'
import type { Network } from '../../registry/primitives/network.js'
import { type Author, refusalError, registrationError } from '../clusters/changes.js'
import { parseClusterId } from '../clusters/clusters.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { type CommunityName, communityPorts, makeChange, requireRules, tryChange } from './communities.js'

export interface RegistrationRequest extends CommunityName {
  /** Who is to get the name; null where none is named. */
  wallet: Address | null
  /** What it means when none is named: the caller itself, or nobody yet. */
  unnamed: 'own' | 'none'
  /** The label of the network to pay on, null for the community's first. */
  payOn: string | null
  /** This version of the interface serves the network. */
  isServed: boolean
}

/** A payment that registers the name, as the payer has to make it. */
export type PaymentInfo =
  | { type: 'evm'; price: CommunityPrice; transaction: EvmCommunityPayment }
  | { type: 'solana'; price: CommunityPrice; transaction: SolanaCommunityPayment }
export type Registration =
  | { kind: 'registered'; owner: Address }
  | { kind: 'to_pay'; owner: Address; info: PaymentInfo }

/** Rules may change while requirements are read; who asks again finds the new ones. */
const TRIES = 3

/**
 * Registers a name below a community, where it is free; else says what to pay. A payment names its payer alone, who gets the name.
 * @throws ApiError of each problem in their order (REGISTRATION_PROBLEMS); catching_up, unavailable
 * @throws ChainUnavailableError where requirements, or a payment, need a chain that can't be asked
 */
export async function registerCommunityName(
  context: Context,
  author: Author,
  request: RegistrationRequest,
): Promise<Registration> {
  for (let tries = 1; ; tries++) {
    const attempt = await attemptRegistration(context, author, request)
    if (attempt.kind !== 'rules_changed') return attempt
    if (tries === TRIES) throw refusalError({ code: 'rules_changed' })
  }
}

async function attemptRegistration(
  context: Context,
  { network, session }: Author,
  request: RegistrationRequest,
): Promise<Registration | { kind: 'rules_changed' }> {
  const { community, name, wallet } = request
  const owner = wallet ?? decodeAddress(session.wallet)
  const [rules, standing, availability] = await Promise.all([
    request.isServed ? findCommunityRules(context.pool, network, community) : null,
    standingOf(context.pool, network, { community, caller: session.wallet, wallet: owner.bytes }),
    communityNameAvailability(context.pool, network, community, name),
  ])
  const known: RegistrationFacts = {
    isServed: request.isServed,
    rules,
    network: request.payOn,
    nowMs: context.now(),
    isOwner: standing.isOwner,
    beneficiary: wallet === null ? request.unnamed : standing.isOwn ? 'own' : 'other',
    isTaken: availability !== 'free',
    areRequirementsMet: null,
  }
  const first = judgeRegistration(known)
  const areMet = first.outcome === 'open' && (await meetsRequirements(context, network, rules!, owner))
  const judgement = first.outcome === 'open' ? judgeRegistration({ ...known, areRequirementsMet: areMet }) : first
  switch (judgement.outcome) {
    case 'refused':
      throw registrationError(judgement.problem)
    case 'paid':
      return { kind: 'to_pay', owner, info: await paymentInfo(context, network, request, judgement.price, owner) }
    default:
      return registerFree(context, { network, session }, request, rules!, owner)
  }
}

async function registerFree(
  context: Context,
  { network, session }: Author,
  { community, name }: CommunityName,
  rules: CommunityRules,
  owner: Address,
): Promise<Registration | { kind: 'rules_changed' }> {
  const made = await tryChange(context, network, {
    kind: 'register_community_name',
    actor: session.wallet,
    community,
    name,
    wallet: owner.bytes,
    met: rules.requirements.length > 0 ? requirementsHash(rules.requirements) : null,
    isAssigned: false,
  })
  if (made.kind === 'made') return { kind: 'registered', owner }
  if (made.refusal.code === 'rules_changed') return { kind: 'rules_changed' }
  throw refusalError(made.refusal)
}

async function paymentInfo(
  context: Context,
  network: Network,
  { community, name }: CommunityName,
  price: CommunityPrice,
  payer: Address,
): Promise<PaymentInfo> {
  const port = communityPorts(context, network).find(({ label }) => label === price.network)
  if (!port) throw new ApiError('unavailable', `The chain "${price.network}" of the price is not configured here now.`)
  const type = port.label === SOLANA ? 'solana' : 'evm'
  // a wallet of another kind can't pay there
  if (payer.type !== type) throw registrationError('invalid_chain_id')
  const transaction = await port.communityPayment({ community, name, price, payer: payer.text, referral: null })
  return 'base64' in transaction ? { type: 'solana', price, transaction } : { type: 'evm', price, transaction }
}

/** Network label of the interface. */
const SOLANA = 'solana'

/** Whether a wallet meets the requirements of a community now. @throws ApiError not_found; ChainUnavailableError */
export async function areRequirementsMetBy(
  context: Context,
  network: Network,
  community: string,
  wallet: Address,
): Promise<boolean> {
  return meetsRequirements(context, network, await requireRules(context, network, community), wallet)
}

async function meetsRequirements(
  context: Context,
  network: Network,
  { requirements }: CommunityRules,
  wallet: Address,
): Promise<boolean> {
  const facts = await readWalletFacts({
    wallet: wallet.bytes,
    requirements,
    ports: communityPorts(context, network),
    verifiedIn: (names) => verifiedInClusters(context.pool, network, wallet.bytes, names),
  })
  return areRequirementsMet(requirements, facts)
}

/**
 * Registers a name below a community for the caller's bundle, without price, after one of its wallets has claimed the community's
 * airdrop. Once a bundle and community; the same name again is the same answer.
 * @param bundleId the id of the caller's bundle, where one is named
 * @throws ApiError invalid_request, not_found, not_in_cluster, forbidden, requirements_not_met before a claim, already_assigned,
 *   not_available, catching_up
 */
export async function assignCommunityName(
  context: Context,
  { network, session }: Author,
  { community, name, bundleId }: CommunityName & { bundleId?: string | undefined },
): Promise<void> {
  const { pool } = context
  const asked = bundleId === undefined ? null : parseClusterId(bundleId)
  if (bundleId !== undefined && !asked) throw new ApiError('invalid_request', 'A bundle id is 0x and 64 hex digits.')
  await requireRules(context, network, community)
  const clusterId = await findClusterId(pool, network, session.wallet, session.wallet)
  if (!clusterId) throw refusalError({ code: 'not_in_cluster', address: null })
  if (asked && !asked.equals(clusterId)) throw refusalError({ code: 'forbidden' })
  if (!(await hasClaimed(pool, { network, community, clusterId }))) throw registrationError('requirements_not_met')
  await makeChange(context, network, {
    kind: 'register_community_name',
    actor: session.wallet,
    community,
    name,
    wallet: session.wallet,
    met: null,
    isAssigned: true,
  })
}
