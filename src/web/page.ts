import { gzipSync } from 'node:zlib'
import { build, files, html } from './generated/assets.js'

/** The pages and their files, as served. */

export interface PageFile {
  type: string
  text: string
  cacheControl: string
}

export const page: PageFile = { type: 'text/html; charset=utf-8', text: html, cacheControl: 'no-cache' }

/** Paths below which everything is the API's, or another page's. */
const OTHERS = /^\/(?:v1|v0\.1|docs|assets|image|bundles)\//
/** Paths of the pages; parts of names are as long as names. `@` is in no name. */
const PAGES = /^\/(?:@[a-z]+|(?:tx|address)\/[^/]+|[\w-]{1,32}(?:\/[\w-]{1,32})?)?\/?$/

/** What a browser is shown at a path, and whether a page is there; null where the API answers. */
export function pageAt(url: string): { file: PageFile; isFound: boolean } | null {
  const path = url.split('?', 1)[0] ?? ''
  if (OTHERS.test(path)) return null
  return { file: page, isFound: PAGES.test(path) }
}

/** Path of a name's page; the reference has the path of the name `docs`. */
export const pagePathOf = (name: string): string => (name === 'docs' ? '/?q=docs' : `/${name}`)

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** A file of the pages; null when this build has none of that name. */
export function pageFile(ofBuild: string, name: string): PageFile | null {
  const text = ofBuild === build && Object.hasOwn(files, name) ? files[name] : undefined
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
  return text === undefined || !type ? null : { type, text, cacheControl: 'public, max-age=31536000, immutable' }
}

const compressed = new Map<string, Buffer>()

/** A file's text as gzip, compressed once. */
export function gzipped({ text }: PageFile): Buffer {
  const bytes = compressed.get(text) ?? gzipSync(text)
  compressed.set(text, bytes)
  return bytes
}
