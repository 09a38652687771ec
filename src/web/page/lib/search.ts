import { NAME } from '../../../registry/primitives/nameRule.js'

/** Target of a search, decided by the form of the text. */
export type Found =
  | { page: 'name'; name: string }
  | { page: 'member'; community: string; name: string }
  | { page: 'address'; address: string }
  | { page: 'tx'; tx: string }
  /** The form fits several: the API has to be asked, in this order; the last is taken where none is known. */
  | { page: 'ask'; text: string; candidates: readonly ('tx' | 'cluster' | 'address' | 'name')[] }

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i
const WORD = /^0x[0-9a-f]{64}$/i
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/
/** Shortest address in base58 or bech32 of any chain. */
const LEAST_ADDRESS_CHARS = 25

/** Decides what a text is; null for an empty one. */
export function find(input: string): Found | null {
  const text = input.trim().replace(/\/$/, '')
  if (text === '') return null
  const [community, name, ...rest] = text.split('/')
  if (name !== undefined && rest.length === 0 && isName(community!) && isName(name))
    return { page: 'member', community: community!.toLowerCase(), name: name.toLowerCase() }
  if (EVM_ADDRESS.test(text)) return { page: 'address', address: text.toLowerCase() }
  // a transaction's hash, a cluster's id and an address of Aptos look the same
  if (WORD.test(text)) return { page: 'ask', text: text.toLowerCase(), candidates: ['cluster', 'address', 'tx'] }
  if (SIGNATURE.test(text)) return { page: 'tx', tx: text }
  if (!isName(text)) return { page: 'address', address: text }
  if (text.length >= LEAST_ADDRESS_CHARS) return { page: 'ask', text, candidates: ['address', 'name'] }
  return { page: 'name', name: text.toLowerCase() }
}

/** Tells whether a path's second part is a transaction, and no name below the community `tx`. */
export const isTx = (text: string): boolean => WORD.test(text) || SIGNATURE.test(text)
export const isName = (text: string): boolean => NAME.test(text.toLowerCase())

/** First parts of paths that are no community's pages; kept equal to the server's by src/web/paths.test.ts. */
const RESERVED = /^(?:v1|docs|assets|image|bundles)$/

/** Path of the page of a name; null where a name below a community has none of its own. */
export function pathOfName(name: string): string | null {
  const [community, member] = name.split('/')
  if (member) return RESERVED.test(community!) ? null : `/${community}/${member}`
  return community === 'docs' ? '/?q=docs' : `/${community}`
}
