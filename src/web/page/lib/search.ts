import { NAME } from '../../../registry/primitives/nameRule.js'

/** Readings of a text by its form: the API is asked in this order, and the last is taken where none is known. */
export interface Found {
  text: string
  candidates: readonly ('tx' | 'cluster' | 'address' | 'name')[]
}

const EVM_ADDRESS = /^0x[0-9a-f]{40}$/i
const WORD = /^0x[0-9a-f]{64}$/i
const SIGNATURE = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/
/** Shortest address in base58 or bech32 of any chain. */
const LEAST_ADDRESS_CHARS = 25

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
  if (text.length >= LEAST_ADDRESS_CHARS) return { text, candidates: ['address', 'name'] }
  return { text: lower, candidates: ['name'] }
}

/** True if a path's second part is a transaction, and no name below the community `tx`. */
export const isTx = (text: string): boolean => WORD.test(text) || SIGNATURE.test(text)
export const isName = (text: string): boolean => NAME.test(text.toLowerCase())

/** First parts of paths that are no community's pages; kept equal to the server's by src/web/pages.test.ts. */
const RESERVED = /^(?:v1|docs|assets|image|bundles)$/

/** Path of the page of a name; null where a name below a community has none of its own. */
export function pathOfName(name: string): string | null {
  const [community, member] = name.split('/')
  if (member) return RESERVED.test(community!) ? null : `/${community}/${member}`
  return community === 'docs' ? '/?q=docs' : `/${community}`
}
