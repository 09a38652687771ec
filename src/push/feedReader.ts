import { readClusterIds, readStretch } from '../db/journal/feed.js'
import type { Queryable } from '../db/pg/rows.js'
import { clustersOf } from '../registry/journal/eventForms.js'
import { eventWriter, type FeedItem, itemsOf } from '../registry/journal/events.js'
import type { Network } from '../registry/primitives/network.js'

/** An event, and its JSON as the feed gives it. */
export interface WrittenEvent extends FeedItem {
  json: string
}

/** Events that follow one another. */
export interface Events {
  /** Number of the feed that they stand in. */
  generation: number
  /** Number of the newest event when they were read. */
  newest: number
  events: WrittenEvent[]
}

/**
 * Reads events with their JSON, oldest first and whole entries only.
 * @param first number of an entry's first event
 * @param limit entries, at most
 * @returns null where a rewind has come between; the next read finds its generation
 */
export async function readEvents(
  db: Queryable,
  network: Network,
  { first, limit }: { first: number; limit: number },
): Promise<Events | null> {
  const range = { first, limit, floor: 1, events: Number.MAX_SAFE_INTEGER, from: null }
  const { generation, newest, rows } = await readStretch(db, network, { order: 'oldest', ...range })
  const items = rows.flatMap(itemsOf)
  const serials = [...new Set(items.flatMap(({ event }) => clustersOf(event)))]
  const ids = await readClusterIds(db, network, serials, generation)
  if (ids.size < serials.length) return null
  const write = eventWriter(network, generation, (serial) => ids.get(serial)!)
  return { generation, newest, events: items.map((item) => ({ json: write(item), ...item })) }
}
