import { z } from 'zod'
import { parseJson } from '../journal/body.js'
import { dataSchema, wallet } from '../journal/eventForms.js'
import type { NumberedEvent } from '../journal/events.js'
import { EVENTS, type EventType, type ShownEvent } from '../journal/eventTypes.js'
import { NOBODY } from '../primitives/address.js'
import { beginningLeaf, LEAF_VERSION, leafWriter } from './leaf.js'
import { fromBase64, type TreeHead } from './note.js'

/** Event of another service's log. */
export type ReadEvent = NumberedEvent<ShownEvent<string>>

/** The last time that a date can have. */
const LAST_MS = 8_640_000_000_000_000
/** Characters of a value that an error repeats. */
const SHOWN = 40

const schemas = (Object.keys(EVENTS) as EventType[]).map((type) =>
  z.object({
    type: z.literal(type),
    at: z.int().min(0).max(LAST_MS),
    from: wallet,
    data: dataSchema(type),
  }),
)
const schema = z.discriminatedUnion('type', schemas as [(typeof schemas)[number]])
const beginning = z.object({
  previous: z.object({ origin: z.string(), size: z.int().min(1), root: z.string() }).nullable(),
})
const write = leafWriter<string>(String)

/**
 * Reads the leaf of an event. A leaf is accepted only if this version writes the same bytes for its event.
 * @param number of the event: the leaf's place in the log
 * @throws RangeError, which names what is unknown
 */
export function readLeaf(text: string, number: number): ReadEvent {
  const json = parseJson(text)
  const { data: given, error } = schema.safeParse(json)
  if (given) {
    const event: ReadEvent = {
      number,
      actor: given.from.equals(NOBODY) ? null : given.from,
      atMs: given.at,
      event: given.data,
    }
    if (write(event) === text) return event
  }
  const { v, type } = Object(json) as Record<string, unknown>
  if (v !== undefined && v !== LEAF_VERSION)
    throw new RangeError(`version ${shown(v)} of its form is unknown: a newer clusterd may read it`)
  if (typeof type === 'string' && !Object.hasOwn(EVENTS, type))
    throw new RangeError(`its type ${shown(type)} is unknown: a newer clusterd may read it`)
  throw new RangeError('it is not written as events are', { cause: error })
}

/**
 * Reads the first leaf of a log.
 * @returns last checkpoint of the generation before, null for a network's first log
 * @throws RangeError
 */
export function readBeginning(text: string, origin: string): TreeHead | null {
  const { data } = beginning.safeParse(parseJson(text))
  const before = data?.previous ?? null
  const root = before && fromBase64(before.root)
  const previous = before && root ? { origin: before.origin, size: before.size, root } : null
  if (beginningLeaf(origin, previous) !== text)
    throw new RangeError(`it is not the beginning of ${origin}`)
  return previous
}

const shown = (value: unknown): string => String(JSON.stringify(value)).slice(0, SHOWN)
