import { NAME } from '../registry/primitives/nameRule.js'

/** The reader of paths and of typed texts. The service answers by it too: 404 where there is no page. */

/** Pages of a signed-in wallet, at `/@keys`: `@` is in no name. */
const ACCOUNT_PAGES = ['register', 'account', 'communities', 'airdrops', 'refunds', 'keys'] as const
export type AccountPage = (typeof ACCOUNT_PAGES)[number]

/** ENS names below which the names of a network resolve, such as `bundles.eth`. */
export interface EnsParents {
  mainnet?: string | undefined
  testnet?: string | undefined
}

/** What a text is: the first of `asked` that the API knows, else `otherwise`. */
interface Reading {
  asked: readonly ('cluster' | 'address')[]
  otherwise: 'address' | 'tx' | 'name'
}

/** A page with what it is about. Names are in lower case. */
export type Place =
  | { page: 'home' }
  | { page: 'reference' }
  | { page: 'account'; part: AccountPage }
  | { page: 'name'; name: string }
  | { page: 'member'; community: string; name: string }
  | { page: 'tx'; tx: string }
  | { page: 'address'; address: string }
  /** A name as ENS has it, with the network of its parent: `name` or `community/name`. */
  | { page: 'ens'; name: string; isTestnet: boolean }
  /** A hash or an address where a name stands. */
  | ({ page: 'search'; text: string } & Reading)
  | { page: 'none'; text: string }

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i
const WORD = /^0x[0-9a-f]{64}$/i
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/
/** Addresses of any chain: in base58, bech32, base64 or hex, none of which goes without a digit. */
const ADDRESS = /^(?=.*\d)[\w-]{25,128}$/

const isTx = (text: string): boolean => WORD.test(text) || SIGNATURE.test(text)
export const isName = (text: string): boolean => NAME.test(text.toLowerCase())

/** @param path as in an address bar @param text of the query `q`, as somebody typed it */
export function placeOf(path: string, text = '', ens: EnsParents = {}): Place {
  const parts = path.split('/').filter(Boolean).map(decoded)
  if (path === REFERENCE) return { page: 'reference' }
  if (parts.length > 0) return pageOf(parts, ens)
  const typed = text.trim()
  if (typed === '') return { page: 'home' }
  const typedParts = typed.split('/').filter(Boolean)
  return typedParts.length > 0 ? pageOf(typedParts, ens) : { page: 'none', text: typed }
}

function pageOf(parts: readonly string[], ens: EnsParents): Place {
  const [first = '', second] = parts
  const text = parts.join('/')
  if (parts.length > 2) return { page: 'none', text }
  if (second === undefined) return pageOfWord(first, ens)
  if (first === 'tx' && isTx(second)) return { page: 'tx', tx: second }
  if (first === 'address') return { page: 'address', address: second }
  if (!isName(first) || !isName(second)) return { page: 'none', text }
  return { page: 'member', community: first.toLowerCase(), name: second.toLowerCase() }
}

function pageOfWord(text: string, ens: EnsParents): Place {
  const part = ACCOUNT_PAGES.find((one) => `@${one}` === text)
  if (part) return { page: 'account', part }
  const lower = text.toLowerCase()
  const reading = readingOf(text)
  if (reading) return { page: 'search', text: lower.startsWith('0x') ? lower : text, ...reading }
  if (isName(text)) return { page: 'name', name: lower }
  return ensPlace(lower, ens) ?? { page: 'none', text }
}

/** Null for what has not the form of a hash or an address, and for what is more likely a name. */
function readingOf(text: string): Reading | null {
  // a transaction's hash, a cluster's id and an address of Aptos look the same
  if (WORD.test(text)) return { asked: ['cluster', 'address'], otherwise: 'tx' }
  if (SIGNATURE.test(text)) return { asked: [], otherwise: 'tx' }
  if (!EVM_ADDRESS.test(text) && !ADDRESS.test(text)) return null
  if (!isName(text)) return { asked: [], otherwise: 'address' }
  // base58 has letters of both cases
  return text === text.toLowerCase() ? null : { asked: ['address'], otherwise: 'name' }
}

/** `alice.bundles.eth`, and `cold.alice.bundles.eth` for `alice/cold`; null for what is below no parent. */
function ensPlace(text: string, { mainnet, testnet }: EnsParents): Place | null {
  for (const parent of [mainnet, testnet]) {
    if (!parent || !text.endsWith(`.${parent}`)) continue
    const labels = text.slice(0, -parent.length - 1).split('.')
    if (labels.length > 2 || !labels.every(isName)) continue
    return { page: 'ens', name: labels.reverse().join('/'), isTestnet: parent === testnet }
  }
  return null
}

/** A part of a path that is no UTF-8 is taken as it stands. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The name within a text that is not a name, as `alice` in `@alice` and `alice.local.eth`; null for a text without one. */
export function nameIn(text: string): string | null {
  const [name = ''] = text.trim().replace(/^@/, '').split(/[./]/)
  return isName(name) ? name.toLowerCase() : null
}

/** Path of the reference, which a name has too. */
const REFERENCE = '/docs'

/** First parts of paths that are the API's where another part follows. */
const RESERVED = ['v1', 'v0.1', 'docs', 'assets', 'image', 'bundles']

/** True if the API answers at a path, and no page is there. */
export const isReserved = (path: string): boolean => {
  const [, first = '', second] = path.split('/')
  return second !== undefined && RESERVED.includes(first)
}

/** Path of the page of a name; null where a name below a community has none of its own. */
export function pathOfName(name: string): string | null {
  if (isReserved(`/${name}`)) return null
  return `/${name}` === REFERENCE ? `/?q=${name}` : `/${name}`
}

/** Path of the page of a typed text. A text that is no name stands in the query: it may have any characters. */
export function pathOfText(text: string): string {
  const place = placeOf('/', text)
  const query = `/?q=${encodeURIComponent(text.trim())}`
  if (place.page === 'name') return pathOfName(place.name) ?? query
  if (place.page === 'member') return pathOfName(`${place.community}/${place.name}`) ?? query
  return query
}
