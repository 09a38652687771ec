import { gzipSync } from 'node:zlib'
import type { PayerAddressType } from '../registry/families.js'
import { escapeMarkup } from '../registry/primitives/markup.js'
import type { ServiceInfo } from './facts.js'
import { build, files, guides, html } from './generated/assets.js'
import { type EnsParents, isApiPath, type PageLocation, pageOfPath } from './paths.js'
import { PAGE_CONTENT_SECURITY_POLICY } from './policy.js'

/** The pages and their files, as served. */

export interface PageFile {
  type: string
  text: string
  cacheControl: string
  /** Content security policy. */
  policy: string
  /** True for the page of a name. There are as many as names that somebody asks for, so their text is not kept. */
  isOfName?: boolean
}

export const indexPage: PageFile = {
  type: 'text/html; charset=utf-8',
  text: html,
  cacheControl: 'no-cache',
  policy: PAGE_CONTENT_SECURITY_POLICY,
}

/** The chains of a chain family, as the test wallet of local worlds (test networks) uses them. */
export interface TestWalletChainFamily {
  /** Type of the family's accounts in the wallet. */
  readonly key: PayerAddressType
  /** Settings that `src/web/page/testWallet` reads. */
  readonly chains: unknown
  readonly rpcUrls: readonly string[]
}

let ens: EnsParents = {}
/** Data for programs that read the pages: the site's URL, and a URI that takes reports of weaknesses. */
let site: { url: string; securityContact?: string | undefined } = { url: '' }

/** Writes the data about this service (`facts`) into its pages, which then need no request for it. */
export function setPageServiceInfo(facts: ServiceInfo, forPrograms = site): void {
  ens = facts.ens
  site = forPrograms
  setHead('service', metaOf('service', facts))
}

const metaOf = (name: string, content: object): string =>
  `<meta name="${name}" content="${JSON.stringify(content).replaceAll('"', '&quot;')}">`

/** Markup that this process adds to the pages' head, by the part of the service that adds it. */
const head = new Map<string, string>()

function setHead(source: string, markup: string): void {
  head.set(source, markup)
  indexPage.text = html.replace('</head>', `${[...head.values()].join('')}</head>`)
}

/**
 * Adds the test wallet of local worlds (test networks) to the pages. Its keys are public.
 * @param isLocal whether all chains belong to a local world
 * @throws Error where a chain is not local
 */
export async function addTestWallet(
  families: readonly TestWalletChainFamily[],
  isLocal: boolean,
): Promise<void> {
  if (!isLocal) throw new Error('The test wallet is for chains of local worlds alone.')
  const { testWallet } = await import('./generated/testWallet.js')
  files['test-wallet.js'] = testWallet
  const chains = Object.fromEntries(families.map(({ key, chains }) => [key, chains]))
  const script = `<script type="module" src="/assets/${build}/test-wallet.js"></script>`
  setHead('test-wallet', metaOf('test-wallet', chains) + script)
  const origins = families.flatMap(({ rpcUrls }) => rpcUrls)
  indexPage.policy = indexPage.policy.replace(
    "connect-src 'self'",
    `connect-src 'self' ${origins.join(' ')}`,
  )
}

/** The page file for a URL, and whether there is such a page (else the status is 404). Null for a URL of the API. */
export function pageOfUrl(url: string): { file: PageFile; isFound: boolean } | null {
  const [path = '', query] = url.split('?', 2)
  const text = new URLSearchParams(query).get('q') ?? ''
  const place = pageOfPath(path, text, ens)
  return isApiPath(path) ? null : { file: withCard(place), isFound: place.page !== 'none' }
}

/** Title and picture of a page by which other sites show a link to it (The Open Graph protocol). */
function withCard(place: PageLocation): PageFile {
  const name = place.page === 'member' ? place.community : place.page === 'name' && place.name
  const title = place.page === 'member' ? `${name}/${place.name}` : name && `${name}/`
  const card = {
    'og:site_name': 'clusterd',
    'og:title': title || 'One name for all your wallets',
    'og:description': 'Names and the wallets behind them, on every chain.',
    'og:image': `${site.url}/image/${name || 'clusterd'}.png`,
  }
  const tags = Object.entries(card).map(
    ([property, content]) => `<meta property="${property}" content="${escapeMarkup(content)}">`,
  )
  const text = indexPage.text.replace('</head>', `${tags.join('')}</head>`)
  return { ...indexPage, text, isOfName: Boolean(name) }
}

/** The page of a name, for clients that send no `Accept: text/html`, such as those that draw cards. */
export const namePage = (name: string): PageFile => withCard({ page: 'name', name })

/** Robots may read the pages, and no answers of the API. */
export const ROBOTS_TXT = 'User-agent: *\nDisallow: /v1/\nDisallow: /v0.1/\n'

/** Days for which a read `security.txt` counts. */
const SECURITY_DAYS = 180
const DAY_MS = 86_400_000

/** Where to report a weakness (RFC 9116); null where the operator has set no address. */
export const securityText = (nowMs = Date.now()): string | null =>
  site.securityContact === undefined
    ? null
    : [
        `Contact: ${site.securityContact}`,
        `Expires: ${new Date(nowMs + SECURITY_DAYS * DAY_MS).toISOString()}`,
        `Canonical: ${site.url}/.well-known/security.txt`,
        '',
      ].join('\n')

/** The page of a guide; null for an unknown guide. @param name file name in docs/use, such as `clusters.md` */
export function guidePage(name: string): PageFile | null {
  const text = Object.hasOwn(guides, name) ? guides[name] : undefined
  return text === undefined ? null : { ...indexPage, text, policy: PAGE_CONTENT_SECURITY_POLICY }
}

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/**
 * A script or style sheet of the pages. During a rolling update a page of another build may request its files here. A
 * file of the same name is then served without caching, so that no cache keeps it under the other build's URL.
 * @returns null when this build has no file of that name
 */
export function pageFile(ofBuild: string, name: string): PageFile | null {
  const text = Object.hasOwn(files, name) ? files[name] : undefined
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)]
  if (text === undefined || !type) return null
  const cacheControl = ofBuild === build ? 'public, max-age=31536000, immutable' : 'no-store'
  return { type, text, cacheControl, policy: PAGE_CONTENT_SECURITY_POLICY }
}

/** The fixed files, compressed. */
const compressed = new Map<string, Buffer>()

/** A file's text as gzip, compressed once unless it is the page of a name. */
export function gzipFile({ text, isOfName = false }: PageFile): Buffer {
  const bytes = compressed.get(text) ?? gzipSync(text)
  if (!isOfName) compressed.set(text, bytes)
  return bytes
}
