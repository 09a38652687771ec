import { gzipSync } from 'node:zlib'
import { NAME_PATTERN } from '../registry/primitives/nameRule.js'
import * as assets from './generated/assets.js'
import { PAGE_POLICY, REFERENCE_POLICY } from './policy.js'
import * as swagger from './reference/generated/files.js'

/** A page as served, with the files that it loads. */
export interface Site {
  html: string
  /** Content security policy. */
  policy: string
  /** Part of the files' paths: another build has others. */
  build: string
  /** Files by their names, gzip. */
  files: Map<string, Buffer>
}

type Generated = Pick<Site, 'html' | 'build'> & { files: Readonly<Record<string, string>> }

const siteOf = ({ html, build, files }: Generated, policy: string): Site => ({
  ...{ html, policy, build },
  files: new Map(Object.entries(files).map(([name, packed]) => [name, Buffer.from(packed, 'base64')])),
})

/** The pages. */
export const pages = siteOf(assets, PAGE_POLICY)
/** Swagger UI over the OpenAPI documents, from this service alone. */
export const reference = siteOf(swagger, REFERENCE_POLICY)

/** Chains of a daemon. */
interface Chains {
  chains: readonly { chainId: number; rpcUrls: readonly string[]; local: boolean }[]
  solana: Partial<Record<'mainnet' | 'testnet', { rpcUrls: readonly string[] }>>
}

/**
 * Gives the pages of this process the wallet of local worlds, whose keys everybody knows.
 * @throws Error where a chain is not local
 */
export async function addTestWallet({ chains, solana }: Chains): Promise<void> {
  if (!chains.every(({ local }) => local)) throw new Error('The test wallet is for chains of local worlds alone.')
  const evm = chains.map(({ chainId, rpcUrls }) => ({ chainId, rpcUrl: rpcUrls[0]! }))
  const cluster = (solana.mainnet ?? solana.testnet)?.rpcUrls[0] ?? null
  const { testWallet } = await import('./generated/testWallet.js')
  pages.files.set('test-wallet.js', gzipSync(testWallet))
  const content = JSON.stringify({ evm, solana: cluster }).replaceAll('"', '&quot;')
  const script = `<script type="module" src="/assets/${pages.build}/test-wallet.js"></script>`
  pages.html = pages.html.replace('</head>', `<meta name="test-wallet" content="${content}">${script}</head>`)
  const origins = [...evm.map(({ rpcUrl }) => rpcUrl), cluster ?? '']
  pages.policy = pages.policy.replace("connect-src 'self'", `connect-src 'self' ${origins.join(' ')}`)
}

const OTHERS = /^\/(?:v1|v0\.1|docs|assets|image|bundles)\//
/** Paths of the pages; parts of names are as long as names. `@` is in no name. */
const PAGES = new RegExp(`^/(?:@[a-z]+|(?:tx|address)/[^/]+|${NAME_PATTERN}(?:/${NAME_PATTERN})?)?/?$`)

/** Null where the API answers; true if the page is there. */
export function isPage(url: string): boolean | null {
  const path = url.split('?', 1)[0] ?? ''
  return OTHERS.test(path) ? null : PAGES.test(path)
}

/** The reference has the path of the name `docs`. */
export const pagePathOf = (name: string): string => (name === 'docs' ? '/?q=docs' : `/${name}`)
