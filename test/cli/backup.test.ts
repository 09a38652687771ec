import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { addBackupCommands } from '../../src/cli/backup/commands.js'
import { appendEntries } from '../../src/db/journal/append.js'
import { migrate } from '../../src/db/pg/migrate.js'
import { createPool, inTransaction } from '../../src/db/pg/pool.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import { spawnChild, waitForCondition } from '../../src/testing/processes/processes.js'
import { programCommand } from '../../src/testing/processes/programs.js'
import { bid, randomAddress } from '../api/support.js'
import { runHere } from '../support/cli.js'
import { queryOn } from '../support/database.js'
import { useFolder } from '../support/folder.js'
import { missingForDumps, startInstalledPostgres } from '../support/installedPostgres.js'
import { useWorld } from '../support/useWorld.js'

/** Dumps of a real database: complete, truncated, and with an altered row. */

const folder = useFolder()
const check = (url: string, dump: string, ...options: string[]) =>
  runHere(addBackupCommands, ['backup', 'check', dump, ...options], { DATABASE_URL: url })

describe.skipIf(missingForDumps)(`a dump (needs: ${missingForDumps ?? 'nothing more'})`, () => {
  const server = useWorld(() => startInstalledPostgres(folder))

  beforeAll(async () => {
    await migrate(server.url)
    const pool = createPool({ url: server.url, max: 1, applicationName: 'test' })
    const entries = Array.from({ length: 20 }, (_, i) =>
      bid({ from: randomAddress(), name: `name${i}` }),
    )
    await inTransaction(pool, (client) =>
      appendEntries(client, 'mainnet', entries.map(decodeEntry), {
        writerMs: Number.MAX_SAFE_INTEGER,
      }),
    )
    await pool.end()
  }, 60_000)

  const databases = async () =>
    (
      await queryOn<{ datname: string }>(server.url, 'SELECT datname FROM pg_database ORDER BY 1')
    ).map(({ datname }) => datname)
  /** Checks a dump, and expects that its scratch database is dropped. */
  async function checked(dump: string, ...options: string[]) {
    const result = await check(server.url, dump, ...options)
    expect(await databases()).toEqual(['postgres', 'template0', 'template1'])
    return result
  }

  /** Dumps the database with a change that is undone afterwards. */
  async function dumpWith(name: string, change: string, undo: string): Promise<string> {
    await queryOn(server.url, change)
    const dump = server.dump(name, '-Fc')
    await queryOn(server.url, undo)
    return dump
  }

  it.each([
    ['custom', ['-Fc']],
    ['directory', ['-Fd']],
    ['tar', ['-Ft']],
    ['plain', ['-Fp']],
  ])('in the format %s passes', async (name, options) => {
    const { stdout, stderr, code } = await checked(server.dump(`good-${name}`, ...options))
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(stdout).toMatch(/^mainnet: 20 entries, the newest of \d{4}-.*: equal$/m)
    expect(stdout).toMatch(/^testnet: 0 entries: equal$/m)
    expect(stdout).toContain('is good: its tables are what its journal folds to.')
    const [action] = await queryOn<{ command: string; outcome: string }>(
      server.url,
      'SELECT command, outcome FROM operator_actions ORDER BY began_ms DESC LIMIT 1',
    )
    expect(action).toEqual({ command: expect.stringMatching(/^backup check /), outcome: 'done' })
  })

  it('can be reported as JSON', async () => {
    const { stdout } = await checked(server.dump('json', '-Fc'), '--json')
    const { isGood, networks } = JSON.parse(stdout)
    expect(isGood).toBe(true)
    expect(networks[0]).toMatchObject({ network: 'mainnet', entries: 20, isEqual: true })
    expect(networks[0].live).toBe(networks[0].rebuilt)
  })

  it.each([
    [
      'a name that has another owner',
      'UPDATE names SET cluster = (SELECT max(cluster) FROM names) WHERE seq = 1',
      'UPDATE names SET cluster = 1 WHERE seq = 1',
    ],
    [
      'a wallet that counts as verified',
      'UPDATE wallets SET verified = NOT verified WHERE created_seq = 2',
      'UPDATE wallets SET verified = NOT verified WHERE created_seq = 2',
    ],
  ])('with %s does not pass', async (what, change, undo) => {
    const dump = await dumpWith(what.replaceAll(' ', '-'), change, undo)
    const { stdout, code } = await checked(dump)
    expect(stdout).toMatch(/^mainnet: 20 entries, .*: DIFFERENT$/m)
    expect(stdout).toContain('is NOT good')
    expect(code).toBe(1)
  })

  it('whose journal has a gap does not pass', async () => {
    await queryOn(
      server.url,
      'CREATE TABLE kept AS SELECT * FROM journal WHERE network = 0 AND seq = 20',
    )
    const dump = await dumpWith(
      'hole',
      'DELETE FROM journal WHERE network = 0 AND seq = 20',
      'INSERT INTO journal SELECT * FROM kept; DROP TABLE kept',
    )
    const { stderr, code } = await checked(dump)
    expect(stderr).toContain('the journal of mainnet in the dump can not be folded')
    expect(code).toBe(1)
  })

  it.each(['-Fc', '-Fp', '-Ft'])('that is truncated (%s) does not pass', async (option) => {
    const dump = server.dump(`cut${option}`, option)
    truncateSync(dump, Math.floor(statSync(dump).size * 0.7))
    const { stderr, code } = await checked(dump)
    expect(stderr).toMatch(/the dump can not be restored: pg_restore: error: |is cut off/)
    expect(code).toBe(1)
  })

  it('with wrong bytes does not pass: the custom format has checksums', async () => {
    const dump = server.dump('wrong', '-Fc')
    const bytes = readFileSync(dump)
    const at = Math.floor(bytes.length * 0.5)
    bytes.fill(0xff, at, at + 200)
    writeFileSync(dump, bytes)
    expect(await checked(dump)).toMatchObject({ code: 1 })
  })

  it.each([
    ['of another database, in the form custom,', ['-Fc']],
    ['of another database, in the form plain,', ['-Fp']],
  ])('%s does not pass: it has no journal', async (_, options) => {
    await queryOn(server.url, 'CREATE DATABASE other')
    const url = Object.assign(new URL(server.url), { pathname: '/other' }).href
    await queryOn(url, 'CREATE TABLE letters (text text)')
    const dump = server.dumpOf(url, `other${options[0]}`, ...options)
    await queryOn(server.url, 'DROP DATABASE other')
    const { stdout, stderr, code } = await checked(dump)
    expect({ stdout, stderr, code }).toEqual({
      stdout: '',
      stderr: expect.stringContaining('holds no registry'),
      code: 1,
    })
  })

  it.each([
    ['--create', ['--create']],
    ['--clean and --create', ['--clean', '--create']],
  ])(
    'in the form plain with %s is refused: it would go to the database that it names',
    async (_, options) => {
      await queryOn(server.url, 'CREATE DATABASE registry')
      const url = Object.assign(new URL(server.url), { pathname: '/registry' }).href
      await queryOn(url, 'CREATE TABLE kept AS SELECT 1')
      const dump = server.dumpOf(url, `plain${options.join('')}`, '-Fp', ...options)
      await queryOn(url, 'CREATE TABLE newer AS SELECT 1')
      const { stdout, stderr, code } = await check(server.url, dump)
      const [newer] = await queryOn<{ found: boolean }>(
        url,
        `SELECT to_regclass('newer') IS NOT NULL AS found`,
      )
      await queryOn(server.url, 'DROP DATABASE registry')
      expect({ stdout, stderr, code, found: newer?.found }).toEqual({
        stdout: '',
        stderr: expect.stringContaining('made with --create'),
        code: 1,
        found: true,
      })
    },
  )

  it('is restored beside other data, by a role that may only create databases', async () => {
    await queryOn(
      server.url,
      `CREATE ROLE maker LOGIN CREATEDB PASSWORD 'hunter2'; CREATE ROLE idle LOGIN`,
    )
    const urlOf = (user: string) =>
      Object.assign(new URL(server.url), { username: user, password: 'hunter2' }).href
    const dump = server.dump('roles', '-Fc')
    expect((await check(urlOf('maker'), dump)).code).toBe(0)
    const { stderr, code } = await check(urlOf('idle'), dump)
    expect(stderr).toContain('the role may make no database')
    expect(code).toBe(1)
  })

  it('is restored on the server that the URL’s parameters name, such as a socket folder', async () => {
    const { port } = new URL(server.url)
    const url = `postgresql:///postgres?host=127.0.0.1&port=${port}&user=maker&password=hunter2`
    const { stdout, code } = await check(url, server.dump('parameters', '-Fc'))
    expect(stdout).toContain('is good')
    expect(code).toBe(0)
  })

  it.each(['SIGINT', 'SIGHUP'] as const)(
    'leaves no database where %s ends the command',
    async (signal) => {
      const dump = server.dump(`interrupted-${signal}`, '-Fc')
      const { command, args } = await programCommand('cli')
      const child = await spawnChild({
        command,
        args: [...args, 'backup', 'check', dump],
        logFile: join(folder, `interrupted-${signal}.log`),
        env: { ...process.env, DATABASE_URL: server.url },
      })
      const isUnderWay = async () => (await databases()).some((name) => name.includes('scratch'))
      expect(await waitForCondition(isUnderWay, 30_000)).toBe(true)
      await child.end(signal, 20_000)
      expect(child.logTail()).toContain('clusterd: interrupted: nothing is known of the dump.')
      expect(await databases()).toEqual(['postgres', 'template0', 'template1'])
    },
  )

  it('of a newer pg_dump names the way out', async () => {
    const dump = server.dump('newer', '-Fc')
    const bytes = readFileSync(dump)
    // the minor version of the format, behind PGDMP and the major version
    bytes[6] = 99
    writeFileSync(dump, bytes)
    const { stderr, code } = await checked(dump)
    expect(stderr).toMatch(
      /unsupported version .*\. A newer pg_dump wrote it: check it with a pg_restore of/,
    )
    expect(code).toBe(1)
  })

  it('needs pg_restore, and says what to install', async () => {
    const dump = server.dump('tools', '-Fc')
    const env = { DATABASE_URL: server.url, PATH: '/nowhere' }
    const { stderr, code } = await runHere(addBackupCommands, ['backup', 'check', dump], env)
    expect(stderr).toBe(
      "clusterd: pg_restore is not installed: install PostgreSQL's client programs, of the server's version or newer (Debian: postgresql-client; for a newer server apt.postgresql.org).\n",
    )
    expect(code).toBe(1)
    expect(await databases()).toEqual(['postgres', 'template0', 'template1'])
  })
})

it.each([
  ['an encrypted one', Buffer.from('age-encryption.org/v1\n')],
  ['a packed one', Buffer.from([0x1f, 0x8b, 8, 0])],
  ['a chains file', Buffer.from('{"chains": []}')],
])('a file that is no dump, %s, is refused before the database is used', async (_, bytes) => {
  const file = join(folder, 'none')
  writeFileSync(file, bytes)
  const { stderr, code } = await check('postgresql://u@127.0.0.1:9/x', file)
  expect(stderr).toContain('is no dump of pg_dump (custom, directory, tar or plain)')
  expect(code).toBe(1)
})

it.each(['nowhere', '.'])('a path without a dump, %s, is named', async (path) => {
  const { stderr, code } = await check('postgresql://u@127.0.0.1:9/x', join(folder, path))
  expect(stderr).toContain(' is neither a file nor a folder that `pg_dump -Fd` wrote')
  expect(code).toBe(1)
})

it('an empty file, as a failed pg_dump leaves it, is called empty', async () => {
  const file = join(folder, 'empty')
  writeFileSync(file, '')
  const { stderr, code } = await check('postgresql://u@127.0.0.1:9/x', file)
  expect(stderr).toContain(
    `${file} is empty: pg_dump failed when it wrote it. If it said "server version mismatch", install`,
  )
  expect(code).toBe(1)
})

it('a missing file is reported with its name', async () => {
  const { stderr, code } = await check('postgresql://u@127.0.0.1:9/x', join(folder, 'nowhere'))
  expect(stderr).toMatch(/nowhere/)
  expect(code).toBe(1)
})
