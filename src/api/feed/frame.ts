import type { WrittenEvent } from '../../push/events.js'
import type { TailEvent } from '../../push/feedTail.js'
import { type FeedItem, placeAfter } from '../../registry/journal/events.js'
import { NOBODY } from '../../registry/primitives/address.js'
import { type PagePosition, sealPage } from './cursor.js'

/** The walk of a stream, wherever it is. */
export type StreamWalk = Omit<PagePosition, 'first' | 'skip' | 'sinceMs'>

/** Token that goes on after an event. */
export const tokenAfter = (key: Buffer, walk: StreamWalk, item: FeedItem): string =>
  sealPage(key, { ...walk, ...placeAfter(item), sinceMs: null })

/** An event of a stream (WHATWG HTML, 9.2): its id goes on after it. */
export const frame = (token: string, json: string): string => `id: ${token}\ndata: ${json}\n\n`

/** The walk of all who follow the whole feed. */
export const wholeFeed = (at: Pick<PagePosition, 'network' | 'generation'>): StreamWalk => ({
  ...at,
  ...{ order: 'oldest', floor: 1, from: null },
})

/**
 * Adds to events the bytes that all get who follow the whole feed, and those for who follows the event's actor alone:
 * made once, when asked for, since a token takes some 30 µs and thousands may follow one actor.
 * @param key of page tokens
 */
export const framed = (key: Buffer, walk: StreamWalk, events: readonly WrittenEvent[]): TailEvent[] =>
  events.map((event) => {
    const frameOf = (from: Buffer | null) => Buffer.from(frame(tokenAfter(key, { ...walk, from }, event), event.json))
    let own: Buffer | undefined
    return { frame: frameOf(null), ownFrame: () => (own ??= frameOf(event.actor ?? NOBODY)), ...event }
  })
