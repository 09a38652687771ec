import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, inject, it } from 'vitest'
import type { Verified } from '../../src/cli/verify.js'
import { createDatabase, dropDatabase, until } from '../../src/testing/index.js'
import { LOCAL_KEYS } from '../../src/testing/stackParts.js'
import { runCli } from '../support/cli.js'
import { startTestDaemon } from '../support/daemon.js'
import { ask, freshName, freshWallet, registerOn, world } from '../support/world.js'

const folder = mkdtempSync(join(tmpdir(), 'clusterd-export-'))
const chainsFile = join(inject('home'), 'chains.json')
const keyFile = join(folder, 'key')
writeFileSync(keyFile, randomBytes(32).toString('hex'))
const copies: string[] = []
afterAll(async () => {
  for (const name of copies) await dropDatabase(serverOf(world().databaseUrl), name)
  rmSync(folder, { recursive: true, force: true })
})

const serverOf = (url: string): string => Object.assign(new URL(url), { pathname: '/postgres' }).href

async function emptyDatabase(): Promise<string> {
  const name = `copy_${randomBytes(4).toString('hex')}`
  copies.push(name)
  return createDatabase(serverOf(world().databaseUrl), name)
}

const run = (args: string[], databaseUrl: string) =>
  runCli(args, { DATABASE_URL: databaseUrl, CLUSTERD_CHAINS: chainsFile, ...LOCAL_KEYS })

/** Questions with the same answer for as long as the world runs. */
function questions(): [method: 'GET' | 'POST', path: string, body?: unknown][] {
  const { name, owner, tx, communities } = world().seeds.mainnet!
  return [
    ['POST', '/v1/names', [{ name }, { name: `${name}/main` }, { name: freshName('free') }]],
    ['POST', '/v1/names/register/check', [name]],
    ['GET', `/v1/names/address/${owner}`],
    ['GET', `/v1/names/owner/address/${owner}`],
    ['GET', `/v1/clusters/name/${name}`],
    ['GET', `/v1/names/register/tx/${tx.finalized}`],
    ['GET', `/v1/names/register/tx/${tx.lost}`],
    ['GET', `/v1/communities/${communities!.paid.name}`],
    ['GET', '/v1/events?limit=20'],
  ]
}

/** Answers without the number of the feed, which a copy changes. */
async function answersOf(at: { api: string }): Promise<string[]> {
  const answers: string[] = []
  for (const [method, path, body] of questions()) {
    const { status, body: answer } = await ask<{ items?: unknown }>(method, path, body, at)
    expect(status, path).toBe(200)
    const text = JSON.stringify(path.startsWith('/v1/events') ? answer.items : answer)
    answers.push(text.replace(/"([mt])-\d+-/g, '"$1-').replace(/free-[0-9a-f]+/g, 'free'))
  }
  return answers
}

describe.each([
  ['encrypted', ['--key-file', keyFile], ['--key-file', keyFile]],
  ['public', ['--public'], []],
])('an %s export of a running world', (kind, exported, imported) => {
  it('makes a copy that answers the same, agrees with the chain, and goes on with it', async () => {
    const file = join(folder, kind)
    await run(['export', '--out', file, ...exported], world().databaseUrl)
    const copy = await emptyDatabase()
    expect(await run(['import', file, '--check', ...imported], copy)).toContain('is whole, checksum')
    expect(await run(['import', file, ...imported], copy)).toMatch(
      /mainnet: \d+ entries, the same state hash [0-9a-f]{64}/,
    )

    const { hubs } = JSON.parse(await run(['verify', '--json'], copy)) as { hubs: Verified[] }
    expect(hubs.map(({ different }) => different)).toEqual([[], []])
    expect(hubs[0]!.equal).toBeGreaterThan(1)

    const before = await answersOf(world())
    const daemon = await startTestDaemon(copy, JSON.parse(readFileSync(chainsFile, 'utf8')), {
      ...LOCAL_KEYS,
      ROLES: 'api,index',
    })
    try {
      await until.ready(daemon)
      expect(await answersOf(daemon)).toEqual(before)
      const name = freshName()
      const tx = await registerOn('1', await freshWallet(), [{ name }])
      const status = () => ask<{ status: string }>('GET', `/v1/names/register/tx/${tx}`, undefined, daemon)
      await expect.poll(async () => (await status()).body.status, { timeout: 40_000 }).toBe('finalized')
    } finally {
      await daemon.stop()
    }
  })
})

describe('clusterd verify', () => {
  it('names a log that the journal has otherwise', async () => {
    const file = join(folder, 'forged')
    await run(['export', '--out', file, '--plaintext', '--network', 'mainnet'], world().databaseUrl)
    const copy = await emptyDatabase()
    await run(['import', file], copy)
    const pg = await import('pg')
    const client = new pg.default.Client({ connectionString: copy })
    await client.connect()
    const text = `UPDATE journal SET body = set_byte(body, 95, get_byte(body, 95) # 1)
      WHERE (network, generation, seq) = (SELECT network, generation, min(seq) FROM journal WHERE kind = 1 GROUP BY 1, 2)
      RETURNING block, log_index`
    const { rows } = await client.query(text)
    await client.end()
    const output = await run(['verify'], copy).catch((error: { stdout: string }) => error.stdout)
    expect(output).toContain('1 DIFFERENT')
    expect(output).toContain(`block/log ${rows[0].block}/${rows[0].log_index}`)
  })
})

describe('clusterd export', () => {
  it.each([
    [[], 'name a key that encrypts it (--key-file), leave them out (--public), or say --plaintext.'],
    [['--key-file', '/nowhere'], '--key-file /nowhere does not exist'],
  ])('refuses %j', async (args, message) => {
    const file = join(folder, 'refused')
    await expect(run(['export', '--out', file, ...args], world().databaseUrl)).rejects.toThrow(message)
    expect(() => readFileSync(file)).toThrow('ENOENT')
  })
})
