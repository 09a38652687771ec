import type { CommunityPrice, CommunityRules } from './rules.js'

/** Refusals of a registration, in the order in which v0.1 of the interface checks them. */
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

/** Inputs of the decision about a request to register `community/name`. */
export interface RegistrationInputs {
  /** Whether the interface version serves this network (v0.1: testnet only). */
  isServed: boolean
  /** Current rules; null when the name is no community. */
  rules: CommunityRules | null
  /** Network label requested for payment, null without one. */
  network: string | null
  nowMs: number
  /** Whether the caller is verified in the cluster that owns the community. */
  isOwner: boolean
  /** Requested beneficiary: none, a wallet of the caller's own cluster, or another. v1 treats none as `own`. */
  beneficiary: 'none' | 'own' | 'other'
  /** Whether the name is registered, or is a public wallet name of the community's cluster. */
  isTaken: boolean
  /** Whether the beneficiary meets the requirements; null before they are read. */
  areRequirementsMet: boolean | null
}

/** Outcome of a request; `open` needs the requirements to be read. */
export type RegistrationDecision =
  | { outcome: 'refused'; problem: RegistrationProblem }
  | { outcome: 'open' }
  | { outcome: 'free' }
  | { outcome: 'paid'; price: CommunityPrice }

/**
 * Decides who may register a community name, and its price. Payments have no beneficiary, so an owner registers for
 * others free of charge.
 */
export function decideRegistration(inputs: RegistrationInputs): RegistrationDecision {
  const { rules } = inputs
  const refused = (problem: RegistrationProblem) => ({ outcome: 'refused', problem }) as const
  if (!inputs.isServed) return refused('testnet_only')
  if (!rules) return refused('not_found')
  const price = priceFor(rules, inputs)
  if (price === undefined) return refused('invalid_chain_id')
  if (inputs.nowMs < (rules.startsAtMs ?? 0)) return refused('not_active')
  if (!inputs.isOwner && (rules.ownersOnly || inputs.beneficiary === 'other')) return refused('not_verified')
  if (rules.ownersOnly && inputs.beneficiary === 'none') return refused('no_walletAddress_found')
  if (inputs.isTaken) return refused('not_available')
  if (inputs.areRequirementsMet === false) return refused('requirements_not_met')
  if (inputs.areRequirementsMet === null && rules.requirements.length > 0) return { outcome: 'open' }
  return price ? { outcome: 'paid', price } : { outcome: 'free' }
}

/** Price to pay, null for none; undefined when the requested network has none. */
function priceFor(
  { prices }: CommunityRules,
  { network, isOwner, beneficiary }: RegistrationInputs,
): CommunityPrice | null | undefined {
  if (prices.length === 0) return null
  const price = network === null ? prices[0] : prices.find((one) => one.network === network)
  return price && isOwner && beneficiary === 'other' ? null : price
}
