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

  const last = at(events.length)
  const changed = { ...events[1]!, timestamp: events[1]!.timestamp + 1 }

  it.each([
    { name: 'is missing at the start', mirror: events.slice(1), checkpoint: last },
    { name: 'is missing at the end', mirror: events.slice(0, -1), checkpoint: last },
    { name: 'is added', mirror: [events[0]!, ...events], checkpoint: last },
    { name: 'is changed', mirror: events.with(1, changed), checkpoint: last },
    { name: 'is missing, as all are', mirror: [], checkpoint: last },
    { name: 'is of another generation', mirror: events, checkpoint: { ...last, generation: 2 } },
    {
      name: 'is not in the hash',
      mirror: events,
      checkpoint: { ...last, hash: at(1).hash },
    },
  ])('finds an event that $name', async ({ mirror, checkpoint }) => {
    await expect(verifyEvents(mirror, checkpoint)).rejects.toMatchObject({
      code: 'feed_mismatch',
    })
  })
})
