import { readClusterIds, readJournalRange } from '../db/journal/feed.js'
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

/** The same before anything is written of them. */
interface Items extends Omit<Events, 'events'> {
  items: FeedItem[]
  /** Public id of a cluster that they name, hex, by its serial. */
  idOf(serial: number): string
}

/**
 * Reads events, oldest first and whole entries only.
 * @param first number of an entry's first event
 * @param limit entries, at most
 * @param events that the entries begin within, from the first one on; default: any number
 * @returns null where a rewind has come between; the next read finds its generation
 */
export async function readItems(
  db: Queryable,
  network: Network,
  {
    first,
    limit,
    events = Number.MAX_SAFE_INTEGER,
  }: { first: number; limit: number; events?: number },
): Promise<Items | null> {
  const range = { first, limit, floor: 1, events, from: null }
  const { generation, newest, rows } = await readJournalRange(db, network, {
    order: 'oldest',
    ...range,
  })
  const items = rows.flatMap(itemsOf)
  const serials = [...new Set(items.flatMap(({ event }) => clustersOf(event)))]
  const ids = await readClusterIds(db, network, serials, generation)
  if (ids.size < serials.length) return null
  return { generation, newest, items, idOf: (serial) => ids.get(serial)! }
}

/** Reads events with their JSON. @returns as `readItems` */
export async function readEvents(
  db: Queryable,
  network: Network,
  range: { first: number; limit: number },
): Promise<Events | null> {
  const found = await readItems(db, network, range)
  if (!found) return null
  const { generation, newest, items, idOf } = found
  const write = eventWriter(network, generation, idOf)
  return { generation, newest, events: items.map((item) => ({ json: write(item), ...item })) }
}

/** Events of these numbers: some entry may begin before them, or go on behind. @returns as `readItems` */
export async function readNumbered(
  db: Queryable,
  network: Network,
  { from, to }: { from: number; to: number },
): Promise<Items | null> {
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
  const found = await readItems(db, network, {
    first,
    limit: to - from + 1,
    events: to - first,
  })
  const items = found?.items.filter(({ number }) => number >= from && number <= to) ?? []
  return found && { ...found, items }
}
