import type { Route } from '../http/route.js'
import { airdropRoutes } from './airdrop.js'
import { authRoutes } from './auth.js'
import { bundleRoutes } from './bundle.js'
import { clusterRoutes } from './clusters.js'
import { communityRoutes } from './communities.js'
import { eventRoutes } from './events.js'
import { generateRoutes } from './generate.js'
import { imageRoutes } from './image.js'
import { lookupRoutes } from './lookups.js'
import { networkRoutes } from './networks.js'
import { registerRoutes } from './register.js'
import { statusRoutes } from './status.js'
import { walletRoutes } from './wallets.js'

/** Routes of the current version of the interface. */
export const v1Routes: readonly Route[] = [
  ...lookupRoutes,
  ...clusterRoutes,
  ...walletRoutes,
  ...generateRoutes,
  ...bundleRoutes,
  ...airdropRoutes,
  ...communityRoutes,
  ...registerRoutes,
  ...networkRoutes,
  ...statusRoutes,
  ...eventRoutes,
  ...authRoutes,
  ...imageRoutes,
]
