import { z } from 'zod'
import { NOBODY } from '../primitives/address.js'
import type { Network } from '../primitives/network.js'
import { parseJson } from './body.js'
import { dataSchema, wallet } from './eventForms.js'
import { eventWriter, type NumberedEvent } from './events.js'
import { EVENTS, type EventType, type ShownEvent } from './eventTypes.js'

/** Event of another service's feed. */
export interface ReadEvent extends NumberedEvent<ShownEvent<string>> {
  generation: number
}

/** The last time that a date can have. */
const LAST_MS = 8_640_000_000_000_000

const EVENT_ID = /^[mt]-([1-9]\d{0,8})-([1-9]\d{0,14})$/

const schemas = (Object.keys(EVENTS) as EventType[]).map((type) =>
  z.object({
    id: z.string().regex(EVENT_ID),
    type: z.literal(type),
    from: wallet,
    data: dataSchema(type),
    timestamp: z.int().min(0).max(LAST_MS),
  }),
)
const schema = z.discriminatedUnion('type', schemas as [(typeof schemas)[number]])

/**
 * Creates a reader of the feed's lines. It reads a line by the row of the event's type, writes the event again, and
 * accepts the line only if the bytes are equal.
 * @returns throws RangeError for any other text
 */
export function createEventReader(network: Network): (line: string) => ReadEvent {
  return (line) => {
    const { data: given, error } = schema.safeParse(parseJson(line))
    if (given) {
      const [, generation, number] = EVENT_ID.exec(given.id)!
      const event = {
        number: Number(number),
        generation: Number(generation),
        actor: given.from.equals(NOBODY) ? null : given.from,
        atMs: given.timestamp,
        event: given.data,
      }
      if (eventWriter(network, event.generation, String)(event) === line) return event
    }
    throw new RangeError(`this is no event of the feed`, { cause: error })
  }
}
