import { hexOf } from './bytes.js'
import { ClusterdError } from './error.js'
import type { FeedEvent } from './types.js'

/** A place in the feed: events of a generation, and the hash over all of them. */
export interface Checkpoint {
  generation: number
  count: number
  /** 0x and 64 hex digits. */
  hash: string
}

export type Registration = Extract<FeedEvent, { type: 'REGISTER_NAME' }>

const HASH_BYTES = 32

/**
 * Holds events, from the first one of their generation on, against a checkpoint (docs/use/events.md).
 * @returns the registrations among them
 * @throws ClusterdError feed_mismatch for another feed, or one that ends before
 */
export async function verifyEvents(
  events: AsyncIterable<FeedEvent> | Iterable<FeedEvent>,
  { generation, count, hash }: Checkpoint,
): Promise<Registration[]> {
  const registered: Registration[] = []
  let at = new Uint8Array(HASH_BYTES)
  let taken = 0
  if (count > 0)
    for await (const event of events) {
      taken++
      if (!event.id.endsWith(`-${generation}-${taken}`))
        throw mismatch(`Event ${taken} is ${event.id}.`)
      // an event as the feed gives it, without what `events` adds
      const { resume, ...rest } = event as FeedEvent & { resume?: string }
      const text = new TextEncoder().encode(canonical(rest))
      at = new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array([...at, ...text])))
      if (event.type === 'REGISTER_NAME') registered.push(event)
      if (taken === count) break
    }
  if (taken < count) throw mismatch(`There are ${taken} of ${count} events.`)
  if (hexOf(at) !== hash) throw mismatch('The events are not those of the checkpoint.')
  return registered
}

const mismatch = (message: string) => new ClusterdError('feed_mismatch', message)

/** JSON with sorted keys and no spaces (RFC 8785). */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(',')}}`
}
