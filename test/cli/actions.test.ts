import { once } from 'node:events'
import { createServer } from 'node:net'
import { hostname, userInfo } from 'node:os'
import { beforeEach, describe, expect, it } from 'vitest'
import { addJournalCommands } from '../../src/cli/journal/commands.js'
import { addKeyCommands } from '../../src/cli/keys/commands.js'
import { addWebhookCommands } from '../../src/cli/webhooks/commands.js'
import { createDatabase } from '../../src/testing/processes/postgres.js'
import { spawnChild, waitForCondition } from '../../src/testing/processes/processes.js'
import { programCommand } from '../../src/testing/processes/programs.js'
import { runCli, runHere } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { useFolder } from '../support/folder.js'

/** Recorded operator commands, as stored in the database. */

const database = useDatabase()
const folder = useFolder()
const OWN = { osUser: `${userInfo().username}@${hostname()}`, role: 'postgres' }

const runOf =
  (add: typeof addKeyCommands) =>
  (url: string, ...args: string[]) =>
    runHere(add, args, { DATABASE_URL: url })
const keys = runOf(addKeyCommands)
const journal = runOf(addJournalCommands)
const webhooks = runOf(addWebhookCommands)

/** Recorded commands, newest first. */
async function listed(url = database.url) {
  return JSON.parse((await journal(url, 'journal', 'actions', '--json')).stdout)
}

/** URL of the database for a new role with the given privileges. */
async function roleWith(name: string, grants: string): Promise<string> {
  await database.pool.query(`DROP ROLE IF EXISTS ${name}`)
  await database.pool.query(`CREATE ROLE ${name} LOGIN`)
  await database.pool.query(grants)
  return Object.assign(new URL(database.url), { username: name }).href
}

beforeEach(async () => {
  await database.pool.query('DELETE FROM operator_actions')
})

describe('a command on the database', () => {
  it('is recorded with user, time, command line and outcome, even if it only reads', async () => {
    await keys(database.url, 'keys', 'make', 'a partner', '--per-second', '20')
    const [own, made] = await listed()
    expect(made).toEqual({
      ...OWN,
      command: 'keys make "a partner" --per-second 20',
      outcome: 'done',
      beganAt: expect.any(String),
      endedAt: expect.any(String),
    })
    expect(Math.abs(Date.parse(made.beganAt) - Date.now())).toBeLessThan(60_000)
    expect(Date.parse(made.endedAt)).toBeGreaterThanOrEqual(Date.parse(made.beganAt))
    expect(own).toMatchObject({ command: 'journal actions --json', outcome: null, endedAt: null })
    expect((await journal(database.url, 'journal', 'actions')).stdout).toContain(
      'keys make "a partner" --per-second 20',
    )
  })

  it('is recorded with its failure', async () => {
    const { code } = await keys(database.url, 'keys', 'revoke', 'none')
    expect(code).toBe(1)
    const [, revoked] = await listed()
    const outcome = 'failed: There is no API key of the id none: `clusterd keys list` shows them.'
    expect(revoked).toMatchObject({ command: 'keys revoke none', outcome })
  })

  it('is recorded with its exit code where a comparison differs', async () => {
    const sql = `UPDATE journal_heads SET serial = 1 WHERE network = 0;
      INSERT INTO clusters (network, serial, id, created_seq) VALUES (0, 1, '\\x01', 1)`
    await database.pool.query(sql)
    const { code, stdout } = await journal(database.url, 'journal', 'replay', '--mainnet')
    expect({ code, isDifferent: stdout.includes('DIFFERENT') }).toEqual({
      code: 1,
      isDifferent: true,
    })
    await database.pool.query('DELETE FROM clusters')
    expect((await listed())[1]).toMatchObject({
      command: 'journal replay --mainnet',
      outcome: 'ended with 1',
    })
  })

  it('is recorded without the secrets of its arguments and of its failure', async () => {
    await webhooks(
      database.url,
      'webhooks',
      'add',
      'https://u:hunter2@hooks.example/hunter2?k=hunter2',
    )
    await webhooks(database.url, 'webhooks', 'add', 'http://hooks.example/hunter2')
    await keys(database.url, 'keys', 'revoke', `ck_${'4'.repeat(43)}`)
    const text = JSON.stringify(await listed())
    expect(text).not.toMatch(/hunter2|4444/)
    expect(text).toContain('keys revoke …')
  })

  it('that is killed has a row without an outcome', async () => {
    // a lock prevents the end of the command
    const lock = await database.pool.connect()
    await lock.query('BEGIN; LOCK TABLE api_keys')
    const { command, args } = await programCommand('cli')
    const child = await spawnChild({
      command,
      args: [...args, 'keys', 'list'],
      logFile: `${folder}/killed.log`,
      env: { ...process.env, DATABASE_URL: database.url },
    })
    const text = `SELECT 1 FROM operator_actions WHERE command = 'keys list'`
    expect(
      await waitForCondition(async () => (await lock.query(text)).rowCount === 1, 30_000),
    ).toBe(true)
    await child.end('SIGKILL', 10_000)
    await lock.query('ROLLBACK')
    lock.release()
    expect((await listed())[1]).toMatchObject({
      command: 'keys list',
      outcome: null,
      endedAt: null,
    })
    expect((await journal(database.url, 'journal', 'actions')).stdout).toMatch(
      /keys list +not ended/,
    )
  })

  it('run by the program itself is recorded as typed', async () => {
    await runCli(['keys', 'make', 'x', '--per-second', '5'], { DATABASE_URL: database.url })
    expect((await listed())[1]).toMatchObject({
      command: 'keys make x --per-second 5',
      outcome: 'done',
    })
  }, 60_000)
})

describe('a command that cannot be recorded', () => {
  it('continues under a read-only role, and reports it', async () => {
    const url = await roleWith('reader', 'GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader')
    const { code, stdout, stderr } = await keys(url, 'keys', 'list')
    expect({ code, stdout: stdout.length > 0 }).toEqual({ code: 0, stdout: true })
    expect(stderr).toContain('operator_actions does not record this command (permission denied')
    expect((await listed())[1]).toBeUndefined()
  })

  it('continues on a read-only database', async () => {
    const url = `${database.url}?options=-c%20default_transaction_read_only%3Don`
    expect(await keys(url, 'keys', 'list')).toMatchObject({ code: 0, stderr: '' })
    expect((await listed())[1]).toBeUndefined()
  })

  it('is recorded afterwards if it is the `migrate` that creates the table', async () => {
    const url = await createDatabase(database.url, 'fresh')
    expect(await runCli(['migrate'], { DATABASE_URL: url })).toContain('applied')
    expect((await listed(url))[1]).toMatchObject({ command: 'migrate', outcome: 'done' })
  }, 60_000)

  it('fails once, with its own message, where the database is unavailable', async () => {
    const { stderr, code } = await keys('postgresql://u@127.0.0.1:9/x', 'keys', 'list')
    expect(stderr).toBe(
      'clusterd: PostgreSQL at 127.0.0.1:9 does not answer (ECONNREFUSED): start it, or correct DATABASE_URL.\n',
    )
    expect(code).toBe(1)
  })

  it('continues while another session locks the table', async () => {
    const lock = await database.pool.connect()
    await lock.query('BEGIN; LOCK TABLE operator_actions')
    const startedMs = performance.now()
    const { code, stderr } = await keys(database.url, 'keys', 'list')
    const ms = performance.now() - startedMs
    const text = `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE application_name = 'clusterd actions' AND wait_event_type = 'Lock'`
    const isFree = await waitForCondition(
      async () => (await lock.query(text)).rows[0].waiting === 0,
      5_000,
    )
    await lock.query('ROLLBACK')
    lock.release()
    expect({ code, stderr, isFree }).toEqual({ code: 0, stderr: '', isFree: true })
    // two writes of 3 s, and the command's own time
    expect(ms).toBeLessThan(20_000)
  }, 30_000)

  it('waits at most 3 s for a database that does not answer', async () => {
    const server = createServer(() => {})
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const startedMs = performance.now()
    const { stderr } = await keys(`postgresql://u@127.0.0.1:${port}/x`, 'keys', 'list')
    server.close()
    expect(stderr).toContain(`PostgreSQL at 127.0.0.1:${port} does not answer (in time): start it`)
    // the first write, and the command's own limit of 5 s
    expect(performance.now() - startedMs).toBeLessThan(20_000)
  }, 30_000)
})
