import {
  NAME_MAX_BYTES,
  NAME_PATTERN,
  NAME_RULES_TEXT,
  NEW_NAME_PATTERN,
} from '../../../registry/primitives/nameRule.js'
import { serviceInfo } from './service.js'

/** Text of the rules of names. Word joiners keep the browser from breaking a line within `a-z`. */
export const NAME_RULES_HINT = NAME_RULES_TEXT.replaceAll('-', '-\u2060')

/** A typed name in canonical form, without its slash. */
export const canonicalName = (text: string): string => text.trim().replace(/\/$/, '').toLowerCase()

/** A name as the pages show it: `alice/`, `club/alice`. */
export const nameText = (name: string): string => (name.includes('/') ? name : `${name}/`)

/**
 * Pattern of labels that ENS refuses: an underscore after another character, or hyphens at the third and fourth place
 * (ENSIP-15).
 */
const NOT_IN_ENS_PATTERN = /[^_]_|^..--/

/**
 * The ENS name of `alice` or `club/alice`, such as `alice.club.bundles.eth`. Null if the service resolves no names of
 * the network, or if ENS refuses one of the labels.
 */
export function ensNameOf(name: string, isTestnet: boolean): string | null {
  const parent = isTestnet ? serviceInfo.ens.testnet : serviceInfo.ens.mainnet
  const labels = name.split('/').reverse()
  if (!parent || labels.some((label) => NOT_IN_ENS_PATTERN.test(label))) return null
  return [...labels, parent].join('.')
}

/** Attributes of an input for a wallet's new name. Browsers add the title to their own message about the pattern. */
export const WALLET_NAME_INPUT_ATTRIBUTES = {
  pattern: NEW_NAME_PATTERN,
  title: NAME_RULES_TEXT,
  maxLength: NAME_MAX_BYTES,
}

/** Attributes of an input for a cluster's name, which may be typed with its slash. */
export const CLUSTER_NAME_INPUT_ATTRIBUTES = {
  ...WALLET_NAME_INPUT_ATTRIBUTES,
  pattern: NAME_PATTERN,
  maxLength: NAME_MAX_BYTES + 1,
}
