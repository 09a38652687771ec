import { NAME } from '../registry/primitives/nameRule.js'

/** The reader of paths and of typed texts. The service answers by it too: 404 where there is no page. */

/** Pages of a signed-in wallet, at `/@keys`: `@` is in no name. */
const ACCOUNT_PAGES = ['register', 'account', 'communities', 'airdrops', 'refunds', 'keys'] as const
export type AccountPage = (typeof ACCOUNT_PAGES)[number]

/** A page with what it is about. Names are in lower case. */
export type Place =
  | { page: 'home' }
  | { page: 'account'; part: AccountPage }
  | { page: 'name'; name: string }
  | { page: 'member'; community: string; name: string }
  | { page: 'tx'; tx: string }
  | { page: 'address'; address: string }
  /** A hash or an address where a name stands: the API is asked what it is. */
  | { page: 'search'; text: string }
  | { page: 'none'; text: string }

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i
const WORD = /^0x[0-9a-f]{64}$/i
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/
/** Addresses of any chain: in base58, bech32, base64 or hex, none of which goes without a digit. */
const ADDRESS = /^(?=.*\d)[\w-]{25,128}$/

const isTx = (text: string): boolean => WORD.test(text) || SIGNATURE.test(text)
export const isName = (text: string): boolean => NAME.test(text.toLowerCase())

/** @param path as in an address bar @param text of the query `q`, for names whose path is another page's */
export function placeOf(path: string, text = ''): Place {
  const parts = path.split('/').filter(Boolean).map(decoded)
  const [first, second] = parts
  if (first === undefined) return text === '' ? { page: 'home' } : pageOf(text.split('/'))
  if (first === 'tx' && second && parts.length === 2 && isTx(second))
    return { page: 'tx', tx: second }
  if (first === 'address' && second && parts.length === 2)
    return { page: 'address', address: second }
  return pageOf(parts)
}

function pageOf(parts: readonly string[]): Place {
  const [first = '', second = ''] = parts
  const text = parts.join('/')
  if (parts.length > 2 || (second !== '' && !(isName(first) && isName(second))))
    return { page: 'none', text }
  if (second !== '')
    return { page: 'member', community: first.toLowerCase(), name: second.toLowerCase() }
  if (isName(first)) return { page: 'name', name: first.toLowerCase() }
  const part = ACCOUNT_PAGES.find((one) => `@${one}` === first)
  if (part) return { page: 'account', part }
  return {
    page: EVM_ADDRESS.test(text) || isTx(text) || ADDRESS.test(text) ? 'search' : 'none',
    text,
  }
}

/** A part of a path that is no UTF-8 is taken as it stands. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Readings of a text by its form: the API is asked in this order, and the last is taken where none is known. */
export interface Found {
  text: string
  candidates: readonly ('tx' | 'cluster' | 'address' | 'name')[]
}

/** Null for an empty text. A name below a community is a name too. */
export function find(input: string): Found | null {
  const text = input.trim().replace(/\/$/, '')
  const lower = text.toLowerCase()
  if (text === '') return null
  if (/^[^/]+\/[^/]+$/.test(text) && text.split('/').every(isName))
    return { text: lower, candidates: ['name'] }
  if (EVM_ADDRESS.test(text)) return { text: lower, candidates: ['address'] }
  // a transaction's hash, a cluster's id and an address of Aptos look the same
  if (WORD.test(text)) return { text: lower, candidates: ['cluster', 'address', 'tx'] }
  if (SIGNATURE.test(text)) return { text, candidates: ['tx'] }
  if (!isName(text)) return { text, candidates: ['address'] }
  if (ADDRESS.test(text)) return { text, candidates: ['address', 'name'] }
  return { text: lower, candidates: ['name'] }
}

/** The name within a text that is not a name, as `alice` in `@alice` and `alice.local.eth`; null where there is none. */
export function nameIn(text: string): string | null {
  const [name = ''] = text.trim().replace(/^@/, '').split(/[./]/)
  return isName(name) ? name.toLowerCase() : null
}

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
  // the reference has that path
  return name === 'docs' ? '/?q=docs' : `/${name}`
}
