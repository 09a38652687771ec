import { parseEventData } from '../journal/eventForms.js'
import type { NumberedEvent } from '../journal/events.js'
import { EVENTS, type EventType, type V1Event } from '../journal/eventTypes.js'
import { parseWalletOrNull, STORED_ZERO_ADDRESS } from '../primitives/address.js'
import { parseJson } from '../primitives/json.js'
import { LEAF_VERSION } from './beginning.js'
import { createLeafWriter } from './leaf.js'

/** Event read from another service's log. */
export type LeafEvent = NumberedEvent<V1Event<string>>

/** Latest time that a Date can represent. */
const MAX_DATE_MS = 8_640_000_000_000_000
/** Maximum length of a value that an error repeats. */
const MAX_SHOWN_CHARS = 40

const writeLeaf = createLeafWriter<string>(String)

/**
 * Reads the leaf of an event. A leaf is accepted only if this version writes the same bytes for its event.
 * @param number of the event, which is the leaf's index
 * @throws RangeError with the unknown or malformed part
 */
export function parseEventLeaf(text: string, number: number): LeafEvent {
  const { v, type, at, from, data } = Object(parseJson(text)) as Readonly<Record<string, unknown>>
  const isKnown = typeof type === 'string' && Object.hasOwn(EVENTS, type)
  const event = isKnown && parseEventData(type as EventType, data)
  const wallet = typeof from === 'string' && parseWalletOrNull(from)
  if (event && wallet && isTime(at)) {
    const actor = wallet.bytes.equals(STORED_ZERO_ADDRESS) ? null : wallet.bytes
    const read = { number, actor, atMs: at, event }
    if (writeLeaf(read) === text) return read
  }
  if (v !== undefined && v !== LEAF_VERSION)
    throw new RangeError(
      `version ${shownValue(v)} of its form is unknown: a newer clusterd may read it`,
    )
  if (typeof type === 'string' && !isKnown)
    throw new RangeError(`its type ${shownValue(type)} is unknown: a newer clusterd may read it`)
  throw new RangeError('it is not written as events are')
}

const isTime = (at: unknown): at is number =>
  Number.isInteger(at) && Number(at) >= 0 && Number(at) <= MAX_DATE_MS

const shownValue = (value: unknown): string =>
  String(JSON.stringify(value)).slice(0, MAX_SHOWN_CHARS)
