import { actorText, eventDataJson } from '../journal/eventForms.js'
import type { NumberedEvent } from '../journal/events.js'
import type { V1Event } from '../journal/eventTypes.js'
import { LEAF_VERSION } from './beginning.js'

/**
 * Leaves of a feed's log. A leaf is one line of JSON in UTF-8, whose fields and their order depend on the leaf version.
 * Leaf 0 identifies the log. Leaf n is event n.
 */

/** Creates a writer of event leaves. @param idOf public id of a cluster, hex */
export const createLeafWriter =
  <Cluster = number>(idOf: (cluster: Cluster) => string) =>
  ({ event, actor, atMs }: Omit<NumberedEvent<V1Event<Cluster>>, 'number'>): string =>
    `{"v":${LEAF_VERSION},"type":"${event.type}","at":${atMs},"from":"${actorText(actor)}","data":${eventDataJson(event, idOf)}}`
