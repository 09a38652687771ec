import type { ClaimPermissionSigner, PaymentReleaseSigner } from '../chains/chain.js'
import type { EnsGateway } from '../ens/gateway.js'
import type { PrimaryNameTransactionsBuilder } from '../ens/primary.js'
import { SERVICE_VERSION } from '../ops/version.js'
import { ensRoutes } from './ens.js'
import type { FeedStreams } from './feed/stream.js'
import { openApiDocument } from './http/openapi.js'
import type { Route } from './http/route.js'
import type { LongPolls } from './status/status.js'
import { authRoutes as authRoutesV01 } from './v0.1/auth.js'
import { communityRoutes as communityRoutesV01 } from './v0.1/community.js'
import { eventRoutes as eventRoutesV01 } from './v0.1/events.js'
import { lookupRoutes as lookupRoutesV01 } from './v0.1/lookups.js'
import { registrationRoutes as registerRoutesV01 } from './v0.1/register.js'
import { airdropRoutes } from './v1/airdrops.js'
import { authRoutes } from './v1/auth.js'
import { walletBundleRoutes } from './v1/bundle.js'
import { clusterRoutes } from './v1/clusters.js'
import { communityRoutes } from './v1/communities.js'
import { eventRoutes } from './v1/events.js'
import { walletGenerationRoutes } from './v1/generate.js'
import { bulkWalletLookupRoutes } from './v1/join.js'
import { apiKeyRoutes } from './v1/keys.js'
import { feedLogRoutes } from './v1/log.js'
import { lookupRoutes } from './v1/lookups.js'
import { overviewRoutes } from './v1/overview.js'
import { primaryNameRoutes } from './v1/primary.js'
import { quoteRoutes } from './v1/quotes.js'
import { referralRoutes } from './v1/referrals.js'
import { refundRoutes } from './v1/refunds.js'
import { registrationRoutes } from './v1/register.js'
import { trpcRoutes } from './v1/trpc.js'
import { walletRoutes } from './v1/wallets.js'
import { nameImageAndPageRoutes } from './webPage.js'

/** Services that some routes need in addition to the context of every request. */
export interface RouteServices {
  streams: FeedStreams
  longPolls: LongPolls
  /** Public URL of the site without a trailing slash, the base of profile and picture URLs. */
  siteUrl: string
  /** Keys of wallet shares, the current key first; empty where no wallets are generated. */
  shareKeys: readonly Uint8Array[]
  /** Signs airdrop permissions; null where only EVM accounts can claim. */
  permissionSigner: ClaimPermissionSigner | null
  /** Signs releases of payments for community names; null where only the relayer releases them. */
  releaseSigner: PaymentReleaseSigner | null
  /** Answers calls of the ENS gateway; null where no ENS name is served. */
  ens: EnsGateway | null
  /** Builds the transactions that set primary names in ENS; null where no ENS name is served. */
  primaryNames: PrimaryNameTransactionsBuilder | null
}

/** Routes by the tag under which the OpenAPI documents list them. */
type RoutesByTag = Readonly<Record<string, readonly Route[]>>

/** Marks look-ups, whose responses carry the block that they reflect. A route that requires a key is not marked. */
const markLookups = (routes: readonly Route[]) =>
  routes.map((route): Route => (route.auth === 'required' ? route : { ...route, isLookup: true }))

/**
 * Routes that check in their handlers whether the network is deployed: routes whose body may select the network, and
 * the list of all networks.
 */
const ROUTES_THAT_CHECK_NETWORK = new Set([
  '/v1/networks',
  '/v1/names/community/:communityName/register',
  ...quoteRoutes.map(({ path }) => path),
])

/**
 * Marks routes that serve the network that the query selects. A request for a network that is not deployed is refused.
 */
const markOfOneNetwork = (routes: readonly Route[]): Route[] =>
  routes.map((route) => {
    if (ROUTES_THAT_CHECK_NETWORK.has(route.path)) return route
    const errors = new Set([...(route.errors ?? []), 'unsupported_network'] as const)
    return { ...route, errors: [...errors], isOfOneNetwork: true }
  })

/**
 * Marks routes that a mirror of another service's event feed refuses, because they need more data than the feed has, or
 * write data. `/v1/networks` needs only the configuration.
 */
const markNotOnMirror = (routes: readonly Route[]): Route[] =>
  routes.map((route) => (route.path === '/v1/networks' ? route : { ...route, isNotOnMirror: true }))

const v1Routes = (services: RouteServices): RoutesByTag => ({
  'Look-ups': [
    ...markOfOneNetwork(markLookups([...lookupRoutes, ...bulkWalletLookupRoutes])),
    ...overviewRoutes,
  ],
  Clusters: markOfOneNetwork([
    ...markLookups(clusterRoutes),
    ...walletRoutes,
    ...walletGenerationRoutes(services.shareKeys),
  ]),
  Bundles: markNotOnMirror(
    markOfOneNetwork([...walletBundleRoutes, ...airdropRoutes(services.permissionSigner)]),
  ),
  Blockscout: markOfOneNetwork(markLookups(trpcRoutes)),
  Referrals: markNotOnMirror(markOfOneNetwork(markLookups(referralRoutes))),
  Communities: markNotOnMirror(markOfOneNetwork(communityRoutes(services.releaseSigner))),
  Registration: markNotOnMirror(markOfOneNetwork(registrationRoutes(services.longPolls))),
  Refunds: markNotOnMirror(markOfOneNetwork(refundRoutes)),
  Events: markOfOneNetwork(eventRoutes(services.streams)),
  Log: feedLogRoutes,
  Authentication: markNotOnMirror(authRoutes),
  'API keys': markNotOnMirror(apiKeyRoutes),
  ENS: [
    ...ensRoutes(services.ens, services.siteUrl),
    ...markOfOneNetwork(markLookups(primaryNameRoutes(services.primaryNames))),
  ],
  Pictures: nameImageAndPageRoutes,
})

/** Deprecated routes of v0.1: the data of v1 in the old shapes. */
const v01Routes = ({ siteUrl }: RouteServices): RoutesByTag => ({
  'v0.1 registration': markNotOnMirror(registerRoutesV01),
  'v0.1 look-ups': markLookups(lookupRoutesV01(siteUrl)),
  'v0.1 communities': markNotOnMirror(communityRoutesV01),
  'v0.1 events': eventRoutesV01,
  'v0.1 authentication': markNotOnMirror(authRoutesV01),
})

const createDocumentMaker = (tagged: RoutesByTag, title: string, description: string) => () =>
  openApiDocument(tagged, { title, version: SERVICE_VERSION, description })

/** Functions that make the OpenAPI documents, by the path at which the document is served. Each call takes 50 ms. */
export type OpenApiDocuments = Readonly<Record<string, () => object>>

/** Creates every route, in the order of matching, and the OpenAPI documents of the routes. */
export function createRoutes(services: RouteServices) {
  const v1 = v1Routes(services)
  const v01 = v01Routes(services)
  const documents: OpenApiDocuments = {
    '/openapi.json': createDocumentMaker(
      v1,
      'clusterd',
      'Names and bundles of wallets: look-ups, registration on chain, transaction status and an event feed.',
    ),
    '/openapi-v0.1.json': createDocumentMaker(
      v01,
      'clusterd v0.1',
      'The deprecated interface: views of the answers of v1 in their old shapes. /openapi.json describes v1.',
    ),
  }
  return { routes: [v1, v01].flatMap((tagged) => Object.values(tagged).flat()), documents }
}
