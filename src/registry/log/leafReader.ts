import { z } from 'zod'
import { parseJson } from '../journal/body.js'
import { dataSchema, wallet } from '../journal/eventForms.js'
import type { NumberedEvent } from '../journal/events.js'
import { EVENTS, type EventType, type ShownEvent } from '../journal/eventTypes.js'
import { NOBODY } from '../primitives/address.js'
import { LEAF_VERSION } from './beginning.js'
import { leafWriter } from './leaf.js'

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

const shown = (value: unknown): string => String(JSON.stringify(value)).slice(0, SHOWN)
