import { build } from './generated/assets.js'
import { indexPage, type PageFile } from './page.js'
import { contents } from './reference/generated/contents.js'

/**
 * The page `/docs` of each version of the API: v1, then v0.1. Not in `page.ts`, because the contents are generated from
 * the OpenAPI documents, and the script that writes those loads `page.ts`.
 */
const REFERENCE_PAGES = contents.map(
  (text): PageFile => ({ ...indexPage, text: text.replaceAll('{assets}', `/assets/${build}`) }),
)

/** The reference of the API. @param url of the request: `/docs` or `/docs?version=0.1` */
export function referencePage(url: string): PageFile {
  const version = new URLSearchParams(url.split('?', 2)[1]).get('version')
  return REFERENCE_PAGES[version === '0.1' ? 1 : 0]!
}
