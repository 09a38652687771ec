import { afterAll, beforeAll, expect, it } from 'vitest'
import { createDatabase } from '../../src/testing/index.js'
import { runCli } from '../support/cli.js'
import { type ClusterdProcess, startClusterd } from '../support/clusterdProcess.js'
import { queryOn, useServer } from '../support/database.js'
import { useFolder } from '../support/folder.js'

/** Processes beside a schema that is behind them, or ahead of them; the chains are away. */

const DEADLINE = { timeout: 30_000, interval: 50 }
const home = useFolder()
const server = useServer()
const processes: ClusterdProcess[] = []
let url: string

beforeAll(async () => {
  url = await createDatabase(server.url, 'schema')
})
afterAll(() => Promise.all(processes.map((one) => one.end('SIGKILL'))))

const query = (sql: string) => queryOn(url, sql)

/** The role of docs/run/configuration.md, which may read and write rows, and make no table. */
function ofTheApi(): string {
  const limited = new URL(url)
  limited.username = 'clusterd_api'
  return limited.href
}

async function start(args: readonly string[] = [], databaseUrl = url): Promise<ClusterdProcess> {
  const started = await startClusterd(
    {
      DATABASE_URL: databaseUrl,
      CLUSTERD_CHAINS: 'examples/chains.json',
      CLUSTERD_HOME: home,
      ROLES: 'api',
      TOKEN_KEY: `0x${'5b'.repeat(32)}`,
      DRAIN_SECONDS: '0',
      LOG_FORMAT: 'json',
    },
    { args },
  )
  processes.push(started)
  return started
}

it('a process that may not migrate waits with one sentence, a stop ends it, and it serves once the step is done', async () => {
  await query(`CREATE ROLE clusterd_api LOGIN;
    ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO clusterd_api`)
  const waiting = await start(['--no-migrate'], ofTheApi())
  await expect
    .poll(() => waiting.log(), DEADLINE)
    .toContain('the start waits: the database does not have the migrations')
  expect(await waiting.end()).toBe(0)
  await waiting.start()
  const waits = () => waiting.log().match(/the start waits/g)
  await expect.poll(waits, DEADLINE).toHaveLength(2)
  expect(await waiting.isReady()).toBe(false)
  const env = { DATABASE_URL: url }
  // a pipeline goes by the exit code
  await expect(runCli(['migrate', '--check'], env)).rejects.toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^missing 20261120000000_init\n/),
  })
  expect(await runCli(['migrate'], env)).toMatch(/^applied 20261120000000_init\n/)
  expect(await runCli(['migrate', '--check'], env)).toBe('The database is up to date.\n')
  await waiting.ready()
  // once in each run, though it looks each second
  expect(waits()).toHaveLength(2)
  expect((await fetch(`${waiting.api}/v1/clusters/name/nobody`)).status).toBe(404)
  expect((await fetch(`${waiting.api}/v1/events`)).status).toBe(200)
  expect(await waiting.end()).toBe(0)
})

it('a version starts on what a newer one has added, and stops at what a contract step took from it', async () => {
  const record = (name: string) =>
    query(`INSERT INTO migrations (name, checksum) VALUES ('${name}', '')`)
  await query('CREATE TABLE of_a_newer_version (n int)')
  await record('29990101000000_more')
  expect(await runCli(['migrate'], { DATABASE_URL: url })).toBe(
    'The database is newer than this version, which works on it: 29990101000000_more.\n',
  )
  const older = await start()
  await older.ready()
  expect(older.log()).toContain('the database is newer than this version')
  await record('29990102000000_v9_9_9_contract_29990101000000')
  const refusals = () =>
    older
      .log()
      .match(
        /^clusterd: migrating: migration 29990102000000_v9_9_9_contract_29990101000000 removed what this version uses; run the newer version$/gm,
      )
  // a process that runs stops, and a restart of it is refused, both with the step's name
  await expect.poll(refusals, DEADLINE).toHaveLength(1)
  expect(await older.end()).toBe(1)
  await older.start()
  await expect.poll(refusals, DEADLINE).toHaveLength(2)
  expect(await older.end()).toBe(1)
})
