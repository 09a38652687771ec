/**
 * Reasons for which an `invalid` transaction registered nothing: the `reason` in its status, and a sentence for people.
 */
export const INVALID_REASONS = {
  reverted: 'The transaction failed on its chain.',
  not_a_registration: 'It is no registration.',
  replaced: 'Its sender replaced it by another transaction.',
  malformed_name: 'What it asked for is no name.',
  below_minimum: 'It paid less than the minimum.',
  paused: 'The hub was paused when it arrived.',
  message_refused: 'The hub could not read the message.',
  quote_mismatch: 'It kept to no quote of this service.',
  reclaimed: 'Its payer took the money back before the hub had it.',
} as const

export type InvalidReason = keyof typeof INVALID_REASONS

/** Further `reason`s of an `invalid` payment for a name below a community, each with a sentence for people. */
export const PAYMENT_REFUSALS = {
  not_found: 'The community did not exist yet.',
  not_active: 'The community had not started.',
  no_price: 'The community asks for no payment in this coin, on this chain or to this recipient.',
  underpaid: 'It paid less than the community’s price.',
  requirements_not_met: 'Its payer did not meet the community’s requirements.',
} as const
