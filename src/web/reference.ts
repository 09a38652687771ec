import { build } from './generated/assets.js'
import { indexPage, type PageFile } from './page.js'
import { contents } from './reference/generated/contents.js'

/** `/docs` of each version, made from the OpenAPI documents. They are made after the modules that `page.ts` needs. */
const PAGES = contents.map(
  (text): PageFile => ({ ...indexPage, text: text.replaceAll('{assets}', `/assets/${build}`) }),
)

/** The reference of the API. @param url of the request: `/docs` or `/docs?version=0.1` */
export function referencePage(url: string): PageFile {
  const version = new URLSearchParams(url.split('?', 2)[1]).get('version')
  return PAGES[version === '0.1' ? 1 : 0]!
}
