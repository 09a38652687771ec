import type { Route } from '../route.js'
import { authRoutes } from './auth.js'
import { clusterRoutes } from './clusters.js'
import { eventRoutes } from './events.js'
import { lookupRoutes } from './lookups.js'
import { registerRoutes } from './register.js'
import { statusRoutes } from './status.js'

/** The current version of the interface. */
export const v1Routes: readonly Route[] = [
  ...lookupRoutes,
  ...clusterRoutes,
  ...registerRoutes,
  ...statusRoutes,
  ...eventRoutes,
  ...authRoutes,
]
