import { NAME_MAX_BYTES, NAME_PATTERN } from '../../../registry/primitives/nameRule.js'
import { service } from './service.js'

/** A name as it was typed, with its slash or without. */
export const nameOf = (text: string): string => text.trim().replace(/\/$/, '').toLowerCase()

/** A form that ENS refuses: an underscore behind another character, hyphens at the third and fourth place (ENSIP-15). */
const NOT_OF_ENS = /[^_]_|^..--/

/** `alice` or `club/alice` as ENS has it: `alice.club.bundles.eth`; null where it has no such name. */
export function ensNameOf(name: string, isTestnet: boolean): string | null {
  const parent = isTestnet ? service.ens.testnet : service.ens.mainnet
  const labels = name.split('/').reverse()
  if (!parent || labels.some((label) => NOT_OF_ENS.test(label))) return null
  return [...labels, parent].join('.')
}

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
