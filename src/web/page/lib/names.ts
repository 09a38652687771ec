import { NAME_MAX_BYTES, NAME_PATTERN } from '../../../registry/primitives/nameRule.js'

/** A name as it was typed, with its slash or without. */
export const nameOf = (text: string): string => text.trim().replace(/\/$/, '').toLowerCase()

/** Attributes of an input that has to be filled in with something that is no word. */
export const TYPED = { required: true, autocomplete: 'off', spellcheck: false } as const

/** Attributes of an input for a wallet's name. */
export const NAME_RULES = {
  ...TYPED,
  pattern: NAME_PATTERN,
  maxLength: NAME_MAX_BYTES,
}

/** Attributes of an input for a cluster's name, which may be typed with its slash. */
export const CLUSTER_NAME_RULES = {
  ...NAME_RULES,
  pattern: `${NAME_RULES.pattern}/?`,
  maxLength: NAME_MAX_BYTES + 1,
}
