import { readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { serveArchives } from '../../src/db/journal/archive/serve.js'
import { replay } from '../../src/db/journal/replay.js'
import { stateHash } from '../../src/db/journal/stateHash.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { secondApi } from '../api/support.js'
import { type Answers, askAll, askFeeds, type Subjects, subjectsOf } from './questions.js'
import { type ArchiveWorld, PARTITION, startArchiveWorld } from './world.js'

let world: ArchiveWorld
let subjects: Subjects
let before: Answers
let hash: string
beforeAll(async () => {
  world = await startArchiveWorld()
  subjects = await subjectsOf(world.pool)
  before = await answers()
  hash = await hashNow()
})
afterEach(() => serveArchives(null))
afterAll(() => world.stop())

const hashNow = () => inTransaction(world.pool, (client) => stateHash(client, 'mainnet', 1))

const askEverything = (url: string) => askAll(url, world, subjects)

/** What an API says that was started now: nothing is kept from before. */
async function answers(asked: (url: string) => Promise<Answers> = askEverything): Promise<Answers> {
  const api = await secondApi(world, { chains: world.chains })
  try {
    return await asked(api.url)
  } finally {
    await api.stop()
  }
}

const differing = (after: Answers): string[] => [...after.keys()].filter((path) => after.get(path) !== before.get(path))

describe('a registry whose journal is archived', () => {
  it('was asked about all that it has', () => {
    const found = [...before.values()].filter((text) => text.startsWith('200')).length
    expect(found).toBeGreaterThan(1_000)
    expect([...before.values()].filter((text) => text.startsWith('5'))).toEqual([])
  })

  it('answers as before once its files are written', async () => {
    const written = await world.write()
    expect(written.length).toBeGreaterThan(3)
    expect(written.map(({ seqFirst, seqLast }) => [seqFirst, seqLast])).toEqual(
      written.map((_, n) => [Math.max(1, n * PARTITION), (n + 1) * PARTITION - 1]),
    )
    expect(readdirSync(world.dir).sort()).toEqual(written.map(({ file }) => file).sort())
    expect(differing(await answers())).toEqual([])
    expect(await world.write()).toEqual([])
  })

  it('answers as before once its table lacks what the files have', async () => {
    const count = async () => Number((await world.pool.query('SELECT count(*) FROM journal_mainnet')).rows[0].count)
    const all = await count()
    const dropped = await world.drop()
    expect(await world.drop()).toEqual([])
    expect(await count()).toBeLessThan(all - 10)
    serveArchives(world.dir)
    const after = await answers()
    expect(differing(after)).toEqual([])
    expect([...after.keys()].sort()).toEqual([...before.keys()].sort())
    expect(dropped.length).toBeGreaterThan(3)
  })

  it('says that a page is away while its file is, and gives it again once it is back', async () => {
    const [file] = readdirSync(world.dir).sort()
    serveArchives(world.dir)
    renameSync(join(world.dir, file!), join(world.dir, 'elsewhere'))
    const without = await answers((url) => askFeeds(url, subjects))
    const away = differing(without)
    expect(away.length).toBeGreaterThan(10)
    for (const path of away)
      expect(without.get(path)).toMatch(/^503 .*This part of the feed is archived and can not be read now/)
    expect([...without.values()].join()).not.toContain(world.dir)
    renameSync(join(world.dir, 'elsewhere'), join(world.dir, file!))
    expect(differing(await answers((url) => askFeeds(url, subjects)))).toEqual([])
  })

  it('refuses what needs all entries, with the command that brings them back', async () => {
    await expect(replay(world.pool, 'mainnet')).rejects.toThrow(
      'bring them back with `clusterd archive --restore` first',
    )
  })

  it('has the same journal again once it is restored', async () => {
    const restored = await world.restore()
    expect(restored.length).toBeGreaterThan(3)
    expect(await world.restore()).toEqual([])
    expect(differing(await answers())).toEqual([])
    expect(await hashNow()).toBe(hash)
    const { live, rebuilt } = await replay(world.pool, 'mainnet')
    expect([live, rebuilt]).toEqual([hash, hash])
  })
})
