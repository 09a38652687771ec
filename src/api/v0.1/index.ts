import type { Route } from '../http/route.js'
import { addressRoutes } from './address.js'
import { authRoutes } from './auth.js'
import { clusterRoutes } from './cluster.js'
import { communityRoutes } from './community.js'
import { eventRoutes } from './events.js'
import { nameRoutes } from './name.js'
import { registerRoutes } from './register.js'

/** Routes of the deprecated version of the interface: views of the same answers, in their old shapes. */
export const v01Routes: readonly Route[] = [
  ...registerRoutes,
  ...addressRoutes,
  ...nameRoutes,
  ...clusterRoutes,
  ...communityRoutes,
  ...eventRoutes,
  ...authRoutes,
]
