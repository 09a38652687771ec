import { SERVICE_VERSION } from '../ops/version.js'
import { ensRoutes } from './ens.js'
import { quoteRoutes } from './families/index.js'
import { openApiDocument } from './http/openapi.js'
import type { Route } from './http/route.js'
import { authRoutes as authRoutesV01 } from './v0.1/auth.js'
import { communityRoutes as communityRoutesV01 } from './v0.1/community.js'
import { eventRoutes as eventRoutesV01 } from './v0.1/events.js'
import { lookupRoutes as lookupRoutesV01 } from './v0.1/lookups.js'
import { registrationRoutes as registerRoutesV01 } from './v0.1/register.js'
import { authRoutes } from './v1/auth.js'
import { walletBundleRoutes } from './v1/bundle.js'
import { clusterRoutes } from './v1/clusters.js'
import { communityRoutes } from './v1/communities.js'
import { eventRoutes } from './v1/events.js'
import { walletGenerationRoutes } from './v1/generate.js'
import { bulkWalletLookupRoutes } from './v1/join.js'
import { apiKeyRoutes } from './v1/keys.js'
import { feedLogRoutes } from './v1/log.js'
import { lookupRoutes, nameImageAndPageRoutes } from './v1/lookups.js'
import { overviewRoutes } from './v1/overview.js'
import { primaryNameRoutes } from './v1/primary.js'
import { referralRoutes } from './v1/referrals.js'
import { refundRoutes } from './v1/refunds.js'
import { registrationRoutes } from './v1/register.js'
import { trpcRoutes } from './v1/trpc.js'
import { walletRoutes } from './v1/wallets.js'

/** Routes by the tag under which the OpenAPI documents list them. */
type Tagged = Readonly<Record<string, readonly Route[]>>

/** Marks look-ups: their responses carry the block that they reflect. */
const lookups = (routes: readonly Route[]) =>
  routes.map((route): Route => (route.auth === 'required' ? route : { ...route, isLookup: true }))

/**
 * Routes whose body may select the network, and the list of all networks. They handle a network that is not deployed
 * themselves.
 */
const OF_BODY = new Set([
  '/v1/networks',
  '/v1/names/community/:communityName/register',
  ...quoteRoutes.map(({ path }) => path),
])

/** Routes that ask about the network that the query selects. They are refused where the network is not deployed. */
const OF_NETWORK = new Set<Route>()

function onNetwork(routes: readonly Route[]): Route[] {
  return routes.map((route) => {
    if (OF_BODY.has(route.path)) return route
    const errors = [...new Set([...(route.errors ?? []), 'unsupported_network'] as const)]
    const refusing: Route = { ...route, errors }
    OF_NETWORK.add(refusing)
    return refusing
  })
}

const V1: Tagged = {
  'Look-ups': [
    ...onNetwork(lookups([...lookupRoutes, ...bulkWalletLookupRoutes])),
    ...overviewRoutes,
  ],
  Clusters: onNetwork([...lookups(clusterRoutes), ...walletRoutes, ...walletGenerationRoutes]),
  Bundles: onNetwork(walletBundleRoutes),
  Blockscout: onNetwork(lookups(trpcRoutes)),
  Referrals: onNetwork(lookups(referralRoutes)),
  Communities: onNetwork(communityRoutes),
  Registration: onNetwork(registrationRoutes),
  Refunds: onNetwork(refundRoutes),
  Events: onNetwork(eventRoutes),
  Log: feedLogRoutes,
  Authentication: authRoutes,
  'API keys': apiKeyRoutes,
  ENS: [...ensRoutes, ...onNetwork(lookups(primaryNameRoutes))],
  Pictures: nameImageAndPageRoutes,
}

export const singleNetworkRoutes: ReadonlySet<Route> = OF_NETWORK

/** Deprecated routes of v0.1: the data of v1 in the old shapes. */
const V01: Tagged = {
  'v0.1 registration': registerRoutesV01,
  'v0.1 look-ups': lookups(lookupRoutesV01),
  'v0.1 communities': communityRoutesV01,
  'v0.1 events': eventRoutesV01,
  'v0.1 authentication': authRoutesV01,
}

/** Every route, in the order in which Express tries them. */
export const routes: readonly Route[] = [V1, V01].flatMap((tagged) => Object.values(tagged).flat())

/** Tags of routes that need more data than a feed has, or that write. */
const TAGS_NOT_ON_MIRROR = [
  'Bundles',
  'Referrals',
  'Communities',
  'Registration',
  'Refunds',
  'Authentication',
  'API keys',
  'v0.1 registration',
  'v0.1 communities',
  'v0.1 authentication',
]

/** Routes that a mirror of another service's event feed cannot answer. */
export const routesNotOnMirror: ReadonlySet<Route> = new Set(
  TAGS_NOT_ON_MIRROR.flatMap((tag) => V1[tag] ?? V01[tag]!).filter(
    ({ path }) => path !== '/v1/networks',
  ),
)

const documentOf = (tagged: Tagged, title: string, description: string) => () =>
  openApiDocument(tagged, { title, version: SERVICE_VERSION, description })

/** OpenAPI documents by the path that serves each. Making one takes 50 ms. */
export const openApiDocuments: Readonly<Record<string, () => object>> = {
  '/openapi.json': documentOf(
    V1,
    'clusterd',
    'Names and bundles of wallets: look-ups, registration on chain, transaction status and an event feed.',
  ),
  '/openapi-v0.1.json': documentOf(
    V01,
    'clusterd v0.1',
    'The deprecated interface: views of the answers of v1 in their old shapes. /openapi.json describes v1.',
  ),
}
