import { CapacityLimiter, type CapacityLimits } from './capacityLimiter.js'

/**
 * Maximum numbers of long polls: of one address, and of the process. Long polls and streams together leave sockets for
 * other requests.
 */
export const MAX_LONG_POLLS: CapacityLimits = { perClient: 500, total: 2_000 }
/** Maximum numbers of open streams of the feed: of one address, and of the process. */
export const MAX_FEED_STREAMS: CapacityLimits = { perClient: 50, total: 2_000 }

/** Creates the limiter of long requests. @param isLimited false for no separate limit of one address */
export const createLongRequestLimiter = (
  { perClient, total }: CapacityLimits,
  isLimited: boolean,
) => new CapacityLimiter({ perClient: isLimited ? perClient : total, total })
