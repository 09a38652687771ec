import { gzipSync } from 'node:zlib'
import type { PayerAddressType } from '../registry/families.js'
import { escapeMarkup } from '../registry/primitives/markup.js'
import type { ServiceInfo } from './facts.js'
import { build, files, guides, html } from './generated/assets.js'
import { type EnsParents, isApiPath, type PageLocation, pageOfPath } from './paths.js'
import { PAGE_CONTENT_SECURITY_POLICY } from './policy.js'

/** A file that the service serves: a page, or a script or style sheet of the pages. */
export interface PageFile {
  /** Content type. */
  type: string
  text: string
  cacheControl: string
  /** Content security policy. */
  policy: string
  /** True for the page of a name. Requests can name any number of these pages, so their gzip is not kept. */
  isOfName?: boolean
}

/** The page that every path of the pages gets. Its scripts show the content. */
export const indexPage: PageFile = {
  type: 'text/html; charset=utf-8',
  text: html,
  cacheControl: 'no-cache',
  policy: PAGE_CONTENT_SECURITY_POLICY,
}

/** Data by which the test wallet of local worlds (test networks) uses the chains of one chain family. */
export interface TestWalletChainFamily {
  /** Type of the family's accounts in the wallet. */
  readonly key: PayerAddressType
  /** Settings for the family's file in `src/web/page/testWallet`, as JSON in the form that the file reads. */
  readonly chains: unknown
  readonly rpcUrls: readonly string[]
}

let ensParents: EnsParents = {}
/** Data for programs that read the site: its URL, and the URI to which weaknesses are reported. */
let siteInfo: { url: string; securityContact?: string | undefined } = { url: '' }

/**
 * Writes the data about this service into its pages, which then need no request for it.
 * @param forPrograms data for programs that read the site; default: unchanged
 */
export function setPageServiceInfo(serviceInfo: ServiceInfo, forPrograms = siteInfo): void {
  ensParents = serviceInfo.ens
  siteInfo = forPrograms
  setHeadMarkup('service', metaElement('service', serviceInfo))
}

const metaElement = (name: string, content: object): string =>
  `<meta name="${name}" content="${JSON.stringify(content).replaceAll('"', '&quot;')}">`

/** Markup that this process adds to the pages' head, by its source: `service` or `test-wallet`. */
const headMarkupBySource = new Map<string, string>()

function setHeadMarkup(source: string, markup: string): void {
  headMarkupBySource.set(source, markup)
  indexPage.text = html.replace('</head>', `${[...headMarkupBySource.values()].join('')}</head>`)
}

/**
 * Adds the test wallet to the pages, and allows them to call the chains' nodes. Only for local worlds (test networks),
 * because the wallet's keys are public.
 * @param isLocal whether all chains of the service belong to a local world
 * @throws Error unless `isLocal`
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
  setHeadMarkup('test-wallet', metaElement('test-wallet', chains) + script)
  const origins = families.flatMap(({ rpcUrls }) => rpcUrls)
  indexPage.policy = indexPage.policy.replace(
    "connect-src 'self'",
    `connect-src 'self' ${origins.join(' ')}`,
  )
}

/**
 * The file to serve for a URL. If `isFound` is false, the URL has no page: the file is served with status 404. Null for
 * a URL of the API or of a file (`isApiPath`).
 */
export function pageOfUrl(url: string): { file: PageFile; isFound: boolean } | null {
  const [path = '', query] = url.split('?', 2)
  const text = new URLSearchParams(query).get('q') ?? ''
  const place = pageOfPath(path, text, ensParents)
  return isApiPath(path) ? null : { file: withLinkCard(place), isFound: place.page !== 'none' }
}

/** The index page with the title and picture by which other sites show a link to a page (The Open Graph protocol). */
function withLinkCard(place: PageLocation): PageFile {
  const name = place.page === 'member' ? place.community : place.page === 'name' && place.name
  const title = place.page === 'member' ? `${name}/${place.name}` : name && `${name}/`
  const card = {
    'og:site_name': 'clusterd',
    'og:title': title || 'One name for all your wallets',
    'og:description': 'Names and the wallets behind them, on every chain.',
    'og:image': `${siteInfo.url}/image/${name || 'clusterd'}.png`,
  }
  const tags = Object.entries(card).map(
    ([property, content]) => `<meta property="${property}" content="${escapeMarkup(content)}">`,
  )
  const text = indexPage.text.replace('</head>', `${tags.join('')}</head>`)
  return { ...indexPage, text, isOfName: Boolean(name) }
}

/** The page of a name, for clients that send no `Accept: text/html`, such as sites that show a link as a card. */
export const namePage = (name: string): PageFile => withLinkCard({ page: 'name', name })

/** Robots may read the pages, but no answers of the API. */
export const ROBOTS_TXT = 'User-agent: *\nDisallow: /v1/\nDisallow: /v0.1/\n'

/** Number of days from the request to the `Expires` of `security.txt`. */
const SECURITY_TEXT_DAYS = 180
const DAY_MS = 86_400_000

/** Content of `security.txt` (RFC 9116); null where the operator has set no address for reports. */
export const securityText = (nowMs = Date.now()): string | null =>
  siteInfo.securityContact === undefined
    ? null
    : [
        `Contact: ${siteInfo.securityContact}`,
        `Expires: ${new Date(nowMs + SECURITY_TEXT_DAYS * DAY_MS).toISOString()}`,
        `Canonical: ${siteInfo.url}/.well-known/security.txt`,
        '',
      ].join('\n')

/** The page of a guide; null for an unknown guide. @param name file name in docs/use, such as `clusters.md` */
export function guidePage(name: string): PageFile | null {
  const text = Object.hasOwn(guides, name) ? guides[name] : undefined
  return text === undefined ? null : { ...indexPage, text, policy: PAGE_CONTENT_SECURITY_POLICY }
}

const CONTENT_TYPE_BY_EXTENSION: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/**
 * A script or style sheet of the pages. During a rolling update a page of another build may request its files here.
 * This build's file of the same name is then served without caching, so that no cache keeps it under the other build's
 * URL.
 * @param urlBuild build that the URL names
 * @returns null when this build has no file of that name
 */
export function pageFile(urlBuild: string, name: string): PageFile | null {
  const text = Object.hasOwn(files, name) ? files[name] : undefined
  const type = CONTENT_TYPE_BY_EXTENSION[name.slice(name.lastIndexOf('.') + 1)]
  if (text === undefined || !type) return null
  const cacheControl = urlBuild === build ? 'public, max-age=31536000, immutable' : 'no-store'
  return { type, text, cacheControl, policy: PAGE_CONTENT_SECURITY_POLICY }
}

/** Gzip of files that were served, by their text. Pages of names are not kept. */
const gzipByText = new Map<string, Buffer>()

/** A file's text as gzip, kept for later requests unless the file is the page of a name. */
export function gzipFile({ text, isOfName = false }: PageFile): Buffer {
  const bytes = gzipByText.get(text) ?? gzipSync(text)
  if (!isOfName) gzipByText.set(text, bytes)
  return bytes
}
