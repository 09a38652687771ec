import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, describe, expect, inject, it } from 'vitest'
import type { Verified } from '../../src/cli/journal/verify.js'
import { createPool } from '../../src/db/pg/pool.js'
import { FEED_START, feedHash } from '../../src/registry/journal/feedHash.js'
import { createDatabase, dropDatabase, until } from '../../src/testing/index.js'
import { LOCAL_KEYS } from '../../src/testing/stackParts.js'
import { runCli } from '../support/cli.js'
import { startTestDaemon } from '../support/daemon.js'
import { ask, world } from '../support/world.js'

const folder = mkdtempSync(join(tmpdir(), 'clusterd-export-'))
const chainsFile = join(inject('home'), 'chains.json')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const serverOf = (url: string): string => Object.assign(new URL(url), { pathname: '/postgres' }).href
const run = (args: string[], databaseUrl: string) =>
  runCli(args, { DATABASE_URL: databaseUrl, CLUSTERD_CHAINS: chainsFile, ...LOCAL_KEYS })

interface Page {
  items: unknown[]
  nextPage?: string
}

describe('clusterd journal export', () => {
  it('writes what the feed gives, which the checkpoint confirms, and no other file over one', async () => {
    const items: unknown[] = []
    for (let page: string | undefined = ''; page !== undefined; ) {
      const query: string = page ? `&nextPage=${encodeURIComponent(page)}` : ''
      const { body } = await ask<Page>('GET', `/v1/events?order=oldest&limit=100${query}`)
      items.push(...body.items)
      page = body.nextPage
    }
    const file = join(folder, 'feed.jsonl.gz')
    const said = await run(['journal', 'export', '--out', file, '--mainnet', '--json'], world().databaseUrl)
    const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n')
    expect(items.length).toBeGreaterThan(0)
    expect(lines.slice(0, items.length).map((line) => JSON.parse(line))).toEqual(items)
    const hash = lines.reduce(feedHash, FEED_START)
    expect(JSON.parse(said)).toMatchObject({
      networks: [{ network: 'mainnet', count: lines.length, checkpoint: `0x${hash.toString('hex')}` }],
    })
    await expect(run(['journal', 'export', '--out', file], world().databaseUrl)).rejects.toThrow(
      'exists: name another file.',
    )
  })

  it('that fails leaves an older file as it was, and none of its own', async () => {
    const [older, fresh] = [join(folder, 'older'), join(folder, 'fresh')]
    writeFileSync(older, 'older')
    const away = 'postgresql://nobody@127.0.0.1:1/none'
    await expect(run(['journal', 'export', '--out', older], away)).rejects.toThrow('exists: name another file.')
    expect(readFileSync(older, 'utf8')).toBe('older')
    await expect(run(['journal', 'export', '--out', fresh], away)).rejects.toThrow('does not answer')
    expect(existsSync(fresh)).toBe(false)
  })
})

describe('clusterd journal verify', () => {
  it('proves the journal by the hubs’ own record, and tells where it has another', async () => {
    const server = serverOf(world().databaseUrl)
    const name = `copy_${randomBytes(4).toString('hex')}`
    const copy = await createDatabase(server, name)
    const chains = JSON.parse(readFileSync(chainsFile, 'utf8'))
    const daemon = await startTestDaemon(copy, chains, { ...LOCAL_KEYS, ROLES: 'api,index' })
    try {
      await until.ready(daemon)
    } finally {
      await daemon.stop()
    }
    try {
      const { hubs } = JSON.parse(await run(['journal', 'verify', '--json'], copy)) as { hubs: Verified[] }
      expect(hubs.map(({ isProved }) => isProved)).toEqual([true, true])

      const pool = createPool({ url: copy, max: 1, applicationName: 'test' })
      await pool.query('UPDATE chains SET record = set_byte(record, 83, get_byte(record, 83) # 1) WHERE network = 0')
      await pool.end()
      const failed = await run(['journal', 'verify'], copy).catch((error: { stdout: string }) => error.stdout)
      expect(failed).toContain('do NOT make')
    } finally {
      await dropDatabase(server, name)
    }
  })
})
