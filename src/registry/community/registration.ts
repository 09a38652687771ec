import type { CommunityPrice, CommunityRules } from './rules.js'

/** Why a community name can't be registered as asked, in the order in which the interface's v0.1 looks. */
export const REGISTRATION_PROBLEMS = [
  'testnet_only',
  'not_found',
  'invalid_chain_id',
  'not_active',
  'not_verified',
  'no_walletAddress_found',
  'not_available',
  'requirements_not_met',
] as const
export type RegistrationProblem = (typeof REGISTRATION_PROBLEMS)[number]

/** What is known of a request to register `community/name`, read before it is judged. */
export interface RegistrationInputs {
  /** The version of the interface serves this network (v0.1: the testnet alone). */
  isServed: boolean
  /** The community's rules now; null when the name is no community. */
  rules: CommunityRules | null
  /** The network label that the request names to pay on; null when it names none. */
  network: string | null
  nowMs: number
  /** The caller's wallet is verified in the cluster that holds the community's name. */
  isOwner: boolean
  /**
   * The wallet that the request names to get the name: none, one of the caller's own cluster, or somebody else's. Where
   * none named means the caller's wallet (v1), that is `own`.
   */
  beneficiary: 'none' | 'own' | 'other'
  /** The name belongs to somebody, or is a public wallet name of the community's cluster. */
  isTaken: boolean
  /** The wallet that gets the name meets the requirements; null while that has not been read. */
  areRequirementsMet: boolean | null
}

/** `open` is asked until the requirements have been read: whether to read them at all is known without them. */
export type RegistrationDecision =
  | { outcome: 'refused'; problem: RegistrationProblem }
  | { outcome: 'open' }
  | { outcome: 'free' }
  | { outcome: 'paid'; price: CommunityPrice }

/**
 * Who may register a community name, and what it costs. A payment names nobody to receive the name (its payer does), so
 * what an owner registers for somebody else is without price.
 */
export function decideRegistration(inputs: RegistrationInputs): RegistrationDecision {
  const { rules } = inputs
  const refused = (problem: RegistrationProblem) => ({ outcome: 'refused', problem }) as const
  if (!inputs.isServed) return refused('testnet_only')
  if (!rules) return refused('not_found')
  const price = priceFor(rules, inputs)
  if (price === undefined) return refused('invalid_chain_id')
  if (rules.startsAtMs !== null && inputs.nowMs < rules.startsAtMs) return refused('not_active')
  if (!inputs.isOwner && (rules.ownersOnly || inputs.beneficiary === 'other')) return refused('not_verified')
  if (rules.ownersOnly && inputs.beneficiary === 'none') return refused('no_walletAddress_found')
  if (inputs.isTaken) return refused('not_available')
  if (inputs.areRequirementsMet === false) return refused('requirements_not_met')
  if (inputs.areRequirementsMet === null && rules.requirements.length > 0) return { outcome: 'open' }
  return price ? { outcome: 'paid', price } : { outcome: 'free' }
}

/** The price to pay, null for none; undefined when the network that the request names has none. */
function priceFor(
  { prices }: CommunityRules,
  { network, isOwner, beneficiary }: RegistrationInputs,
): CommunityPrice | null | undefined {
  if (prices.length === 0) return null
  const price = network === null ? prices[0] : prices.find((one) => one.network === network)
  return price && isOwner && beneficiary === 'other' ? null : price
}
