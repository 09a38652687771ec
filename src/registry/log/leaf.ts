import { eventData } from '../journal/eventForms.js'
import { actorText, type NumberedEvent } from '../journal/events.js'
import type { ShownEvent } from '../journal/eventTypes.js'
import { type TreeHead, toBase64 } from './note.js'

/**
 * Leaves of the log of a feed: JSON of one line in UTF-8, whose fields and their order belong to the version. Leaf 0
 * says which log begins; leaf n is event n.
 */

/** Version of the leaves' form. Older leaves keep theirs: a leaf that was published never changes. */
export const LEAF_VERSION = 1

/** The first leaf of a log. @param previous last checkpoint of the generation before, null for a network's first log */
export function beginningLeaf(origin: string, previous: TreeHead | null): string {
  const before = previous && {
    origin: previous.origin,
    size: previous.size,
    root: toBase64(previous.root),
  }
  return JSON.stringify({ v: LEAF_VERSION, type: 'BEGIN', origin, previous: before })
}

/** Writer of the leaves of events. @param idOf public id of a cluster, hex */
export const leafWriter =
  <Cluster = number>(idOf: (cluster: Cluster) => string) =>
  ({ event, actor, atMs }: Omit<NumberedEvent<ShownEvent<Cluster>>, 'number'>): string =>
    `{"v":${LEAF_VERSION},"type":"${event.type}","at":${atMs},"from":"${actorText(actor)}","data":${eventData(event, idOf)}}`
