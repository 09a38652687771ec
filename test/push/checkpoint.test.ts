import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { CHECKPOINT_EVERY, writeCheckpoints } from '../../src/db/journal/feed.js'
import { LostLeadershipError } from '../../src/db/journal/head.js'
import { checkpointWorker } from '../../src/push/checkpoint.js'
import { bid, freshName, randomAddress, startApi } from '../api/support.js'
import { readEpoch } from '../support/epoch.js'
import { useFolder } from '../support/folder.js'
import { useWorld } from '../support/useWorld.js'
import vector from '../vectors/feed/checkpoint.json' with { type: 'json' }

const root = new URL('../../', import.meta.url)
const { signal } = new AbortController()

const world = useWorld(() => startApi())
const alice = randomAddress()

const grow = (count: number, from = () => alice) =>
  world.append(
    'mainnet',
    Array.from({ length: count }, () => bid({ from: from(), name: freshName() })),
  )

/** Steps a worker until it has nothing to do. @returns its steps */
async function catchUp(): Promise<number> {
  const epoch = await readEpoch(world.pool, 'mainnet', 'index')
  const worker = checkpointWorker({ pool: world.pool, network: 'mainnet', epoch })
  for (let steps = 0; ; steps++) if ((await worker.step(signal, () => {})) === 'idle') return steps
}

const checkpoint = async (query = '') => (await world.get(`/v1/events/checkpoint?${query}`)).body

/** The rule again, of events whose values are flat: without a line of the product's. */
function hashOf(events: readonly Record<string, unknown>[]): string {
  const sorted = (fields: object) =>
    Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1)))
  const hash = events.reduce<Buffer>((before, event) => {
    const text = JSON.stringify(sorted({ ...event, data: sorted(event.data as object) }))
    return createHash('sha256')
      .update(Buffer.concat([before, Buffer.from(text)]))
      .digest()
  }, Buffer.alloc(32))
  return `0x${hash.toString('hex')}`
}

async function feed() {
  const items: Record<string, unknown>[] = []
  for (let resume = ''; ; ) {
    const { body } = await world.get(`/v1/events?limit=1000&nextPage=${resume}`)
    items.push(...body.items)
    resume = body.resume
    if (!body.nextPage) return items
  }
}

describe('the checkpoint of the feed', () => {
  it('of no event is one of zeros', async () => {
    expect(await catchUp()).toBe(0)
    expect(await checkpoint()).toEqual({ generation: 1, count: 0, hash: `0x${'00'.repeat(32)}` })
  })

  it('waits for the first catch-up, and is over all events then', async () => {
    await grow(300)
    await grow(3, randomAddress)
    await world.pool.query('UPDATE journal_heads SET caught_up = false')
    expect(await catchUp()).toBe(0)
    await world.pool.query('UPDATE journal_heads SET caught_up = true')
    expect(await catchUp()).toBeGreaterThan(1)
    const events = await feed()
    expect(await checkpoint()).toEqual({
      generation: 1,
      count: events.length,
      hash: hashOf(events),
    })
    expect(await checkpoint('testnet=true')).toMatchObject({ count: 0 })
  })

  it('goes on where another leader has left it, and is kept of every ten thousandth event', async () => {
    const { length } = await feed()
    // an entry of three events whose second is the one that is kept
    await grow(CHECKPOINT_EVERY - length - 2)
    await grow(2, randomAddress)
    await catchUp()
    await grow(50)
    await catchUp()
    const events = await feed()
    const kept = {
      generation: 1,
      count: CHECKPOINT_EVERY,
      hash: hashOf(events.slice(0, CHECKPOINT_EVERY)),
    }
    for (const count of [CHECKPOINT_EVERY, CHECKPOINT_EVERY + 1, events.length - 1])
      expect(await checkpoint(`count=${count}`), `count ${count}`).toEqual(kept)
    expect(await checkpoint(`count=${CHECKPOINT_EVERY - 1}`)).toMatchObject({ count: 0 })
    expect(await checkpoint(`count=${events.length}`)).toEqual({
      ...kept,
      count: events.length,
      hash: hashOf(events),
    })
    const { rows } = await world.pool.query('SELECT count FROM feed_checkpoints ORDER BY count')
    expect(rows.map(({ count }) => Number(count))).toEqual([CHECKPOINT_EVERY, events.length])
  })

  it('is written by who leads alone', async () => {
    const last = { generation: 1, count: 1, hash: Buffer.alloc(32) }
    const context = { pool: world.pool, network: 'mainnet', epoch: 77 } as const
    await expect(writeCheckpoints(context, last, [last])).rejects.toThrow(LostLeadershipError)
  })

  it('begins anew with a generation', async () => {
    await world.pool.query(`UPDATE journal_heads SET feed_generation = 7 WHERE network = 0`)
    expect(await checkpoint()).toMatchObject({ generation: 7, count: 0 })
    await catchUp()
    const events = await feed()
    expect(events[0]!.id).toBe('m-7-1')
    expect(await checkpoint()).toEqual({
      generation: 7,
      count: events.length,
      hash: hashOf(events),
    })
    expect(
      (await world.pool.query('SELECT FROM feed_checkpoints WHERE generation < 7')).rowCount,
    ).toBe(0)
  })
})

const folder = useFolder()

it('the code of the documentation gives the hashes of the vectors', async () => {
  const text = readFileSync(new URL('docs/use/events.md', root), 'utf8').split('## Checkpoint')[1]!
  const code = /```js\n(.*?)```/s.exec(text)![1]!
  const file = path.join(folder, 'checkpoint.mjs')
  const asked = `const events = ${JSON.stringify(vector.events)}
    console.log(JSON.stringify(events.map((_, i) => checkpointOf(events.slice(0, i + 1)))))`
  writeFileSync(file, `${code}\n${asked}`)
  const { stdout } = await promisify(execFile)(process.execPath, [file])
  expect(JSON.parse(stdout)).toEqual(vector.hashes)
})
