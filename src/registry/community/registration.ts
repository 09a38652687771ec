import { familyOfLabel } from '../families.js'
import type { Wallet } from '../primitives/address.js'
import type { CommunityPrice, CommunityRules } from './rules.js'

/** Refusals of a registration, in the order in which v0.1 of the HTTP API checks them. */
export const REGISTRATION_PROBLEMS = [
  'not_found',
  'invalid_chain_id',
  'not_active',
  'not_verified',
  'no_walletAddress_found',
  'not_available',
  'requirements_not_met',
] as const
export type RegistrationProblem = (typeof REGISTRATION_PROBLEMS)[number]

/** How the caller wants to pay. A null field accepts any value. */
export interface PaymentPreference {
  /** Label of a chain. */
  network: string | null
  /** `native`, or the address or mint of a token as responses show it. */
  token: string | null
  /** Type of the payer's address. */
  payer: Wallet['type'] | null
}

export const ANY_PAYMENT_PREFERENCE: PaymentPreference = { network: null, token: null, payer: null }

/**
 * Reason why no price fits a payment preference. `no_network`: the preferred chain is not of this network. `no_price`:
 * no price has the preferred chain and token. `other_payer`: the payer's type of address can't pay on the price's
 * chain.
 */
export type PriceMismatchReason = 'no_network' | 'no_price' | 'other_payer'

export interface RegistrationDecisionInputs {
  /** Current rules; null when the name is no community. */
  rules: CommunityRules | null
  preference: PaymentPreference
  /** True if the preference names no chain, or a chain of this network. */
  isNetworkKnown: boolean
  nowMs: number
  /** True if the caller is verified in the community's cluster. */
  isOwner: boolean
  /**
   * Wallet that gets the name. `none`: the request names no wallet, which API v1 treats as `own`. `own`: a wallet of
   * the caller's cluster. `other`: any other wallet.
   */
  beneficiary: 'none' | 'own' | 'other'
  /** True if the name is registered, or is the name of a public wallet of the community's cluster. */
  isTaken: boolean
  /** True if the beneficiary holds the name already, as where a granted request is repeated. */
  isHeld: boolean
  /** True if the beneficiary meets the requirements; null before the requirements are read. */
  areRequirementsMet: boolean | null
}

/**
 * Outcome of a request to register a name. `held`: the beneficiary has the name already. `open`: the requirements have
 * to be read before the decision. `free` and `paid`: the name may be registered, free of charge or at the price.
 */
export type RegistrationDecision =
  | { outcome: 'refused'; problem: RegistrationProblem; fault?: PriceMismatchReason }
  | { outcome: 'held' }
  | { outcome: 'open' }
  | { outcome: 'free' }
  | { outcome: 'paid'; price: CommunityPrice }

/**
 * Decides whether the caller may register a community name, and at which price. An owner of the community registers
 * for others free of charge.
 */
export function decideRegistration(inputs: RegistrationDecisionInputs): RegistrationDecision {
  const { rules } = inputs
  const refused = (problem: RegistrationProblem) => ({ outcome: 'refused', problem }) as const
  if (!rules) return refused('not_found')
  const price = priceFor(rules, inputs)
  if (typeof price === 'string') return { ...refused('invalid_chain_id'), fault: price }
  if (inputs.nowMs < (rules.startsAtMs ?? 0)) return refused('not_active')
  if (!inputs.isOwner && (rules.ownersOnly || inputs.beneficiary === 'other'))
    return refused('not_verified')
  if (rules.ownersOnly && inputs.beneficiary === 'none') return refused('no_walletAddress_found')
  if (inputs.isHeld) return { outcome: 'held' }
  if (inputs.isTaken) return refused('not_available')
  if (inputs.areRequirementsMet === false) return refused('requirements_not_met')
  if (inputs.areRequirementsMet === null && rules.requirements.length > 0)
    return { outcome: 'open' }
  return price ? { outcome: 'paid', price } : { outcome: 'free' }
}

/** Price to pay, null if the name is free of charge; or the reason why no price fits the preference. */
function priceFor(
  { prices }: CommunityRules,
  {
    preference: { network, token, payer },
    isNetworkKnown,
    isOwner,
    beneficiary,
  }: RegistrationDecisionInputs,
): CommunityPrice | null | PriceMismatchReason {
  if (!isNetworkKnown) return 'no_network'
  if (prices.length === 0) return null
  const named = prices.filter(
    (one) => one.network === (network ?? one.network) && one.token === (token ?? one.token),
  )
  if (named.length === 0) return 'no_price'
  if (isOwner && beneficiary === 'other') return null
  return (
    named.find((one) => payer === null || payer === familyOfLabel(one.network).addressType) ??
    'other_payer'
  )
}
