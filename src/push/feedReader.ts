import { readClusterIds, readJournalRange } from '../db/feed/feed.js'
import type { Queryable } from '../db/pg/rows.js'
import { clustersOfEvent } from '../registry/journal/eventForms.js'
import { createV1EventWriter, type FeedItem, feedItemsOf } from '../registry/journal/events.js'
import type { Network } from '../registry/primitives/network.js'

/** An event of the feed, with its JSON as the API shows it. */
export interface SerializedEvent extends FeedItem {
  json: string
}

/** Consecutive events of a network's feed. */
export interface ConsecutiveEvents {
  generation: number
  /** Number of the feed's newest event at the time of the read. */
  newest: number
  events: SerializedEvent[]
}

/** Consecutive events that are not serialized yet. */
interface UnserializedEvents extends Omit<ConsecutiveEvents, 'events'> {
  items: FeedItem[]
  /** Public id (hex) of a cluster in the events, by its serial. */
  idOf(serial: number): string
}

/**
 * Reads events of a network's feed, oldest first, in whole journal entries.
 * @param first number of an entry's first event
 * @param limit maximum number of entries
 * @param events only entries that begin at most this many events after `first` are read; default: any number
 * @returns null where a rewind happened during the read; the next read uses the new generation
 */
export async function readFeedItems(
  db: Queryable,
  network: Network,
  {
    first,
    limit,
    events = Number.MAX_SAFE_INTEGER,
  }: { first: number; limit: number; events?: number },
): Promise<UnserializedEvents | null> {
  const range = { first, limit, floor: 1, events, from: null }
  const { generation, newest, rows } = await readJournalRange(db, network, {
    order: 'oldest',
    ...range,
  })
  const items = rows.flatMap(feedItemsOf)
  const serials = [...new Set(items.flatMap(({ event }) => clustersOfEvent(event)))]
  const ids = await readClusterIds(db, network, serials, generation)
  if (ids.size < serials.length) return null
  return { generation, newest, items, idOf: (serial) => ids.get(serial)! }
}

/** Reads events of a network's feed with their JSON. @returns as `readFeedItems` */
export async function readSerializedEvents(
  db: Queryable,
  network: Network,
  range: { first: number; limit: number },
): Promise<ConsecutiveEvents | null> {
  const page = await readFeedItems(db, network, range)
  if (!page) return null
  const { generation, newest, items, idOf } = page
  const write = createV1EventWriter(network, generation, idOf)
  return { generation, newest, events: items.map((item) => ({ json: write(item), ...item })) }
}

/** Reads the events `from` to `to` (inclusive), which may begin or end inside an entry. @returns as `readFeedItems` */
export async function readEventRange(
  db: Queryable,
  network: Network,
  { from, to }: { from: number; to: number },
): Promise<UnserializedEvents | null> {
  const before = {
    order: 'newest',
    first: from,
    floor: 1,
    limit: 1,
    events: from,
    from: null,
  } as const
  const { rows } = await readJournalRange(db, network, before)
  const first = rows[0]?.publicFirst ?? from
  const page = await readFeedItems(db, network, {
    first,
    limit: to - from + 1,
    events: to - first,
  })
  const items = page?.items.filter(({ number }) => number >= from && number <= to) ?? []
  return page && { ...page, items }
}
