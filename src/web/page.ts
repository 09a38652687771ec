import { build, files, html } from './generated/assets.js'

/** The page at `/` and its files, as served. */

export interface PageFile {
  type: string
  text: string
  cacheControl: string
}

/**
 * Content security policy of the page: own files, pictures of wallets (data URIs), answers of this service. No inline
 * script or style, no frame, no form to another site.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join(';')

export const page: PageFile = { type: 'text/html; charset=utf-8', text: html, cacheControl: 'no-cache' }

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** A file of the page; null when this build has none of that name. */
export function pageFile(ofBuild: string, name: string): PageFile | null {
  const text = ofBuild === build && Object.hasOwn(files, name) ? files[name] : undefined
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
  return text === undefined || !type ? null : { type, text, cacheControl: 'public, max-age=31536000, immutable' }
}
