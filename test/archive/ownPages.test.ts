import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { ArchiveFile } from '../../src/db/journal/archive/file.js'
import { dropArchives, writeArchives } from '../../src/db/journal/archive/index.js'
import { serveArchives } from '../../src/db/journal/archive/serve.js'
import { readStretch } from '../../src/db/journal/feed.js'
import { parseAddress } from '../../src/registry/primitives/address.js'
import { secondApi } from '../api/support.js'
import { type ArchiveWorld, startArchiveWorld } from './world.js'

/** Pages of a wallet's own feed whose events lie in many blocks: here each entry is a block of its own. */

/** Blocks that are read for a page, and pages that are read at the same time. */
const [BLOCKS, WALKS] = [64, 4]
const ORDERS = ['oldest', 'newest'] as const

let world: ArchiveWorld
let api: Awaited<ReturnType<typeof secondApi>>
let whole: Record<string, string[]>
const failures: string[] = []
beforeAll(async () => {
  world = await startArchiveWorld(28)
  api = await secondApi(world, { chains: world.chains })
  whole = Object.fromEntries(await Promise.all(ORDERS.map(async (order) => [order, (await walk(order)).ids])))
  const options = { network: 'mainnet', dir: world.dir, blockEntries: 1 } as const
  await writeArchives(world.pool, options)
  await dropArchives(world.pool, options)
})
afterEach(() => vi.restoreAllMocks())
afterAll(async () => {
  serveArchives(null)
  await api?.stop()
  await world?.stop()
})

/** Nothing is kept from before. */
const serve = () => serveArchives(world.dir, ({ message }) => void failures.push(message))
const address = () => world.members[0]!.address

/** Numbers of the wallet's own events, in pages as long as they may be. */
async function walk(order: string): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = []
  for (let pages = 1, page = ''; ; pages++) {
    const response = await fetch(`${api.url}/v1/events?from=${address()}&limit=1000&orderBy=${order}${page}`)
    expect(response.status).toBe(200)
    const { items, nextPage } = (await response.json()) as { items: { id: string }[]; nextPage?: string }
    ids.push(...items.map(({ id }) => id))
    if (!nextPage) return { ids, pages }
    page = `&nextPage=${nextPage}`
  }
}

it('a page ends where many blocks were read for it, and the next one goes on', async () => {
  expect(whole.oldest!.length).toBeGreaterThan(BLOCKS)
  expect(whole.newest).toEqual(whole.oldest!.toReversed())
  for (const order of ORDERS) {
    serve()
    const read = vi.spyOn(ArchiveFile.prototype, 'read')
    const { ids, pages } = await walk(order)
    expect(ids).toEqual(whole[order])
    expect(pages).toBe(2)
    expect(new Set(read.mock.calls.map(([piece]) => piece)).size).toBeGreaterThan(BLOCKS)
  }
})

it('a page that goes back in time is not cut for blocks before its bound', async () => {
  serve()
  const { bytes: from } = parseAddress(address()) as { bytes: Buffer }
  const query = { order: 'newest', first: null, limit: 1_000, events: 1_000, from } as const
  const all = await readStretch(world.pool, 'mainnet', { ...query, floor: 1 })
  expect(all.more).toBeGreaterThan(1)
  const floor = all.more! + 1
  expect(await readStretch(world.pool, 'mainnet', { ...query, floor })).toEqual({ ...all, more: null })
})

it('pages that wait for a slow folder take turns, and what took too long ends', async () => {
  serve()
  let [reading, most, reads] = [0, 0, 0]
  const { read } = ArchiveFile.prototype
  vi.spyOn(ArchiveFile.prototype, 'read').mockImplementation(async function (this: ArchiveFile, piece) {
    reads += 1
    most = Math.max(most, ++reading)
    await sleep(150)
    return read.call(this, piece).finally(() => reading--)
  })
  const asked = Array.from({ length: 8 }, (_, n) =>
    fetch(`${api.url}/v1/events?from=${address()}&limit=${999 - n}&orderBy=newest`),
  )
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 503))
  expect(failures).toEqual(asked.map(() => `${world.dir} answers too late.`))
  expect(most).toBe(WALKS)
  // each may be in the middle of a block
  await sleep(500)
  const after = reads
  await sleep(1_000)
  expect([reads, reading]).toEqual([after, 0])
})
