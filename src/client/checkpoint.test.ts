import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { verifyEvents } from './checkpoint.js'
import type { FeedEvent } from './types.js'

const vectors = JSON.parse(readFileSync('test/vectors/feed/checkpoint.json', 'utf8')) as {
  events: FeedEvent[]
  hashes: string[]
}
const { events } = vectors
const hashes = [`0x${'0'.repeat(64)}`, ...vectors.hashes]
const at = (count: number) => ({ generation: 1, count, hash: hashes[count]! })

describe('verifyEvents', () => {
  it('agrees with every checkpoint of the vectors, and looks at nothing behind it', async () => {
    for (let count = 0; count <= events.length; count++) {
      await verifyEvents(events, at(count))
      await verifyEvents(events.slice(0, count), at(count))
    }
  })

  it('takes events as the client gives them, in whatever order of fields', async () => {
    const shuffled = events.map((event) =>
      Object.fromEntries(Object.entries({ ...event, resume: 'x' }).reverse()),
    )
    await verifyEvents(shuffled as FeedEvent[], at(events.length))
  })

  it('finds an event that is missing, added, changed or of another generation', async () => {
    const last = at(events.length)
    const changed = events.map((event, i) =>
      i === 1 ? { ...event, timestamp: event.timestamp + 1 } : event,
    )
    for (const mirror of [
      events.slice(1),
      events.slice(0, -1),
      [events[0]!, ...events],
      changed,
      [],
    ])
      await expect(verifyEvents(mirror, last)).rejects.toMatchObject({ code: 'feed_mismatch' })
    await expect(verifyEvents(events, { ...last, generation: 2 })).rejects.toMatchObject({
      code: 'feed_mismatch',
    })
    await expect(verifyEvents(events, { ...last, hash: at(1).hash })).rejects.toMatchObject({
      code: 'feed_mismatch',
    })
  })
})
