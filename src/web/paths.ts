import { parseName } from '../registry/primitives/nameRule.js'

/**
 * This module decides which page a path, or a text typed into the search field, means. The service uses it too: it
 * answers 404 where there is no page.
 */

/** Pages of a signed-in wallet, such as `/@keys`. No name can contain `@`. */
const ACCOUNT_PAGES = ['register', 'account', 'communities', 'airdrops', 'refunds', 'keys'] as const
export type AccountPageName = (typeof ACCOUNT_PAGES)[number]

/** For each network, the ENS name below which its names resolve, such as `bundles.eth`. */
export interface EnsParents {
  mainnet?: string | undefined
  testnet?: string | undefined
}

/** How to read a text that may mean several things: the first kind in `kinds` that the API finds, else `otherwise`. */
interface TextMeaning {
  kinds: readonly ('cluster' | 'address')[]
  otherwise: 'address' | 'tx' | 'name'
}

/** A page and its subject. Names are in lower case. */
export type PageLocation =
  | { page: 'home' }
  | { page: 'reference' }
  | { page: 'account'; part: AccountPageName }
  | { page: 'name'; name: string }
  | { page: 'member'; community: string; name: string }
  | { page: 'tx'; tx: string }
  | { page: 'address'; address: string }
  /** An ENS name below a network's parent: `name` or `community/name`. */
  | { page: 'ens'; name: string; isTestnet: boolean }
  /** A text in the place of a name that is, or may be, a hash or an address. */
  | ({ page: 'search'; text: string } & TextMeaning)
  | { page: 'none'; text: string }

const EVM_ADDRESS_PATTERN = /^0x[0-9a-f]{40}$/i
const BYTES32_PATTERN = /^0x[0-9a-f]{64}$/i
const SOLANA_SIGNATURE_PATTERN = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/
/** Pattern of addresses of any chain, in base58, bech32, base64url or hex. It also matches a long name with a digit. */
const ADDRESS_PATTERN = /^(?=.*\d)[\w-]{25,128}$/

const isTxId = (text: string): boolean =>
  BYTES32_PATTERN.test(text) || SOLANA_SIGNATURE_PATTERN.test(text)
export const isName = (text: string): boolean => parseName(text) !== null

/**
 * The page of a path.
 * @param path as in an address bar
 * @param text the query parameter `q`, a text that a visitor typed. Read only with the path `/`
 */
export function pageOfPath(path: string, text = '', ens: EnsParents = {}): PageLocation {
  const parts = path.split('/').filter(Boolean).map(decodePathPart)
  if (path === REFERENCE_PATH) return { page: 'reference' }
  if (parts.length > 0) return pageOfParts(parts, ens)
  const typed = text.trim()
  if (typed === '') return { page: 'home' }
  const typedParts = typed.split('/').filter(Boolean)
  return typedParts.length > 0 ? pageOfParts(typedParts, ens) : { page: 'none', text: typed }
}

function pageOfParts(parts: readonly string[], ens: EnsParents): PageLocation {
  const [first = '', second] = parts
  const text = parts.join('/')
  if (parts.length > 2) return { page: 'none', text }
  if (second === undefined) return pageOfSinglePart(first, ens)
  if (first === 'tx' && isTxId(second)) return { page: 'tx', tx: second }
  if (first === 'address') return { page: 'address', address: second }
  if (!isName(first) || !isName(second)) return { page: 'none', text }
  return { page: 'member', community: first.toLowerCase(), name: second.toLowerCase() }
}

function pageOfSinglePart(text: string, ens: EnsParents): PageLocation {
  const part = ACCOUNT_PAGES.find((one) => `@${one}` === text)
  if (part) return { page: 'account', part }
  const lower = text.toLowerCase()
  const meaning = hashOrAddressMeaning(text)
  if (meaning) return { page: 'search', text: lower.startsWith('0x') ? lower : text, ...meaning }
  if (isName(text)) return { page: 'name', name: lower }
  return pageOfEnsName(lower, ens) ?? { page: 'none', text }
}

/**
 * Meaning of a text that is a hash or an address; null for any other text, and for a text that is more likely a name.
 */
function hashOrAddressMeaning(text: string): TextMeaning | null {
  // a transaction hash, a cluster id and an Aptos address have the same form
  if (BYTES32_PATTERN.test(text)) return { kinds: ['cluster', 'address'], otherwise: 'tx' }
  if (SOLANA_SIGNATURE_PATTERN.test(text)) return { kinds: [], otherwise: 'tx' }
  if (!EVM_ADDRESS_PATTERN.test(text) && !ADDRESS_PATTERN.test(text)) return null
  if (!isName(text)) return { kinds: [], otherwise: 'address' }
  // a text with upper case can be base58; names are in lower case
  return text === text.toLowerCase() ? null : { kinds: ['address'], otherwise: 'name' }
}

/**
 * The page of an ENS name: the page of `alice/cold` for `cold.alice.bundles.eth`. Null for a text that is not below the
 * parent of a network.
 */
function pageOfEnsName(text: string, { mainnet, testnet }: EnsParents): PageLocation | null {
  for (const parent of [mainnet, testnet]) {
    if (!parent || !text.endsWith(`.${parent}`)) continue
    const labels = text.slice(0, -parent.length - 1).split('.')
    if (labels.length > 2 || !labels.every(isName)) continue
    return { page: 'ens', name: labels.reverse().join('/'), isTestnet: parent === testnet }
  }
  return null
}

/** Decodes `%` escapes in a part of a path. A part with a malformed escape is returned unchanged. */
function decodePathPart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/**
 * The name with which a text begins, after an optional `@` and up to `.` or `/`: `alice` for `@alice` and
 * `alice.local.eth`. Null if that part is no name.
 */
export function firstNameInText(text: string): string | null {
  const [name = ''] = text.trim().replace(/^@/, '').split(/[./]/)
  return isName(name) ? name.toLowerCase() : null
}

/** Path of the API reference. `docs` is also a possible name. */
const REFERENCE_PATH = '/docs'

/** First parts of paths of the API and of files, where another part follows: `/v1` is the page of a name. */
const RESERVED_FIRST_PARTS = ['v1', 'v0.1', 'docs', 'assets', 'image', 'profile-image', 'bundles']

/** True if a path belongs to the API or to files, so that it has no page. */
export const isApiPath = (path: string): boolean => {
  const [, first = '', second] = path.split('/')
  return second !== undefined && RESERVED_FIRST_PARTS.includes(first)
}

/** Path of the page of a name. Null for a name such as `docs/bob`, whose path belongs to the API (`isApiPath`). */
export function pathOfName(name: string): string | null {
  if (isApiPath(`/${name}`)) return null
  return `/${name}` === REFERENCE_PATH ? `/?q=${name}` : `/${name}`
}

/**
 * Path of the page of a typed text. A text that is not a name goes into the query, since it may have any characters. So
 * does a name that has no path.
 */
export function pathOfText(text: string): string {
  const place = pageOfPath('/', text)
  const query = `/?q=${encodeURIComponent(text.trim())}`
  if (place.page === 'name') return pathOfName(place.name) ?? query
  if (place.page === 'member') return pathOfName(`${place.community}/${place.name}`) ?? query
  return query
}
