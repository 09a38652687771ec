import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { serveArchives } from '../../src/db/journal/archive/serve.js'
import { replay } from '../../src/db/journal/replay.js'
import { freshName, randomAddress, secondApi } from '../api/support.js'
import { type Subjects, subjectsOf } from './questions.js'
import { type ArchiveWorld, startArchiveWorld } from './world.js'

/** Readers, signed changes and registrations while partitions go to files and come back. */

let world: ArchiveWorld
let subjects: Subjects
beforeAll(async () => {
  world = await startArchiveWorld()
  subjects = await subjectsOf(world.pool)
  serveArchives(world.dir)
  await world.write()
})
afterAll(async () => {
  serveArchives(null)
  await world.stop()
})

/** Ids of all events, by pages. */
async function walk(url: string, order: string): Promise<string[]> {
  const ids: string[] = []
  for (let page = ''; ; ) {
    const response = await fetch(`${url}/v1/events?orderBy=${order}&limit=20${page}`)
    const { items, nextPage } = (await response.json()) as { items: { id: string }[]; nextPage?: string }
    if (response.status !== 200) throw new Error(`${response.status} of a page of the feed`)
    ids.push(...items.map(({ id }) => id))
    if (!nextPage) return ids
    page = `&nextPage=${nextPage}`
  }
}

it('nobody notices', async () => {
  const api = await secondApi(world, { chains: world.chains })
  const [alice] = world.members
  const counts = { walks: 0, lookUps: 0, changes: 0 }
  const first = await walk(api.url, 'oldest')
  let isOver = false
  const whileMoving = async (step: (round: number) => Promise<void>) => {
    for (let round = 0; !isOver; round++) await step(round)
  }
  const work = [
    whileMoving(async (round) => {
      const ids = await walk(api.url, round % 2 === 0 ? 'oldest' : 'newest')
      const inOrder = round % 2 === 0 ? ids : ids.toReversed()
      expect(inOrder.slice(0, first.length)).toEqual(first)
      expect(new Set(ids).size).toBe(ids.length)
      counts.walks += 1
    }),
    whileMoving(async (round) => {
      const name = subjects.names[round % subjects.names.length]
      const address = subjects.addresses[round % subjects.addresses.length]
      for (const path of [`clusters/name/${name}`, `names/owner/address/${address}`])
        expect((await fetch(`${api.url}/v1/${path}`)).status).toBeLessThan(500)
      counts.lookUps += 2
    }),
    whileMoving(async () => {
      const address = randomAddress()
      expect((await alice!.add([{ address, name: freshName().slice(0, 20) }])).status).toBe(200)
      expect((await alice!.remove(address)).status).toBe(200)
      counts.changes += 2
      await sleep(20)
    }),
  ]
  for (let round = 0; round < 4 || (round < 40 && counts.walks < 12); round++) {
    expect((await world.drop()).length).toBeGreaterThan(4)
    await sleep(300)
    expect((await world.restore()).length).toBeGreaterThan(4)
  }
  isOver = true
  await Promise.all(work)
  await api.stop()
  console.log(`beside drops and restores of all partitions: ${JSON.stringify(counts)}`)
  expect(Math.min(...Object.values(counts))).toBeGreaterThan(10)
  const { live, rebuilt } = await replay(world.pool, 'mainnet')
  expect(rebuilt).toBe(live)
})
