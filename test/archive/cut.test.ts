import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readArchives } from '../../src/db/journal/archive/archives.js'
import { serveArchives } from '../../src/db/journal/archive/serve.js'
import { readStretch } from '../../src/db/journal/feed.js'
import { replay } from '../../src/db/journal/replay.js'
import { runCli } from '../support/cli.js'
import { type ArchiveWorld, startArchiveWorld } from './world.js'

/** `clusterd archive`, killed at each of its steps and run again. */

let world: ArchiveWorld
let feed: unknown[]
beforeAll(async () => {
  world = await startArchiveWorld()
  feed = await readFeed()
  serveArchives(world.dir)
})
afterAll(async () => {
  serveArchives(null)
  await world.stop()
})

async function readFeed(): Promise<unknown[]> {
  const all = { floor: 1, limit: 10_000, events: Number.MAX_SAFE_INTEGER, from: null }
  const { rows } = await readStretch(world.pool, 'mainnet', { order: 'oldest', first: 1, ...all })
  return rows.map(({ kind, atMs, publicFirst, actor, body, effects }) => [
    kind,
    atMs,
    publicFirst,
    actor,
    body,
    effects,
  ])
}

const run = (args: readonly string[], failpoint = ''): Promise<string> => {
  const env = { DATABASE_URL: world.postgres.url, ARCHIVE_DIR: world.dir, CLUSTERD_FAILPOINT: failpoint }
  return runCli(['archive', '--network', 'mainnet', ...args], env, world.dir)
}

const areDropped = async () => (await readArchives(world.pool, 'mainnet')).map(({ droppedMs }) => droppedMs !== null)

it.each([
  ['--write', 'archive_block:3', [false, false]],
  ['--write', 'archive_renamed:2', [false]],
  ['--drop', 'archive_made:3', [true, true, false, false, false, false]],
  ['--restore', 'archive_made:2', [true, true, true, true, true, false]],
] as const)('cut in %s at %s, the next run goes on', async (order, failpoint, between) => {
  if (order === '--write') await forget()
  await expect(run([order], failpoint)).rejects.toMatchObject({ signal: 'SIGKILL' })
  expect(await areDropped()).toEqual(between)
  expect(await readFeed()).toEqual(feed)
  await run([order])
  expect(await areDropped()).toEqual(Array.from({ length: 6 }, () => order === '--drop'))
  expect(readdirSync(world.dir).filter((name) => !name.endsWith('.archive'))).toEqual([])
  expect(await readFeed()).toEqual(feed)
  const { rows } = await world.pool.query(`SELECT nspname FROM pg_namespace WHERE nspname LIKE 'archive%'`)
  expect(rows).toEqual([])
})

/** As before anything was written. */
async function forget(): Promise<void> {
  await world.pool.query('DELETE FROM archives')
  for (const name of readdirSync(world.dir)) rmSync(join(world.dir, name))
}

it('what was cut four times replays to the same state', async () => {
  const { live, rebuilt } = await replay(world.pool, 'mainnet')
  expect(rebuilt).toBe(live)
})

it('a webhook of a time that is archived needs no file', async () => {
  await run(['--write', '--drop'])
  const since = new Date((await readArchives(world.pool, 'mainnet'))[1]!.lastMs).toISOString()
  const env = { DATABASE_URL: world.postgres.url, ARCHIVE_DIR: '' }
  const added = await runCli(['webhooks', 'add', 'https://example.com/', '--since', since, '--json'], env, world.dir)
  const { id } = JSON.parse(added) as { id: number }
  expect(await runCli(['webhooks', 'replay', String(id), '--since', since], env, world.dir)).toContain('sent to')
  await run(['--restore'])
})

it('says in one sentence what is missing', async () => {
  const fails = (args: readonly string[], env: NodeJS.ProcessEnv) =>
    expect(runCli(['archive', ...args], { DATABASE_URL: world.postgres.url, ARCHIVE_DIR: '', ...env }, world.dir))
      .rejects
  await fails(['--write'], {}).toThrow('ARCHIVE_DIR is not set: name the folder of the files with --dir.')
  await fails(['--write', '--dir', '/nowhere'], {}).toThrow('/nowhere is no folder: make it')
  await fails(['--drop', '--restore'], {}).toThrow('--restore goes alone')
})
