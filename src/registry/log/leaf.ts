import { eventData } from '../journal/eventForms.js'
import { actorText, type NumberedEvent } from '../journal/events.js'
import type { ShownEvent } from '../journal/eventTypes.js'
import { LEAF_VERSION } from './beginning.js'

/**
 * Leaves of the log of a feed: JSON of one line in UTF-8, whose fields and their order belong to the version. Leaf 0
 * says which log begins; leaf n is event n.
 */

/** Writer of the leaves of events. @param idOf public id of a cluster, hex */
export const leafWriter =
  <Cluster = number>(idOf: (cluster: Cluster) => string) =>
  ({ event, actor, atMs }: Omit<NumberedEvent<ShownEvent<Cluster>>, 'number'>): string =>
    `{"v":${LEAF_VERSION},"type":"${event.type}","at":${atMs},"from":"${actorText(actor)}","data":${eventData(event, idOf)}}`
