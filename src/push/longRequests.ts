import { CapacityLimiter, type CapacityLimits } from './capacityLimiter.js'

/**
 * Maximum number of long polls: of one address, and of the process. Together with the streams they leave sockets for
 * other requests.
 */
export const MAX_LONG_POLLS: CapacityLimits = { perClient: 500, total: 2_000 }
/** Maximum number of open streams of the feed: of one address, and of the process. */
export const MAX_FEED_STREAMS: CapacityLimits = { perClient: 50, total: 2_000 }

/** Creates the places of long requests. @param isLimited whether the number of those of one address is limited */
export const placesFor = ({ perClient, total }: CapacityLimits, isLimited: boolean) =>
  new CapacityLimiter({ perClient: isLimited ? perClient : total, total })
