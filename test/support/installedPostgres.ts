import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { choosePostgresUser, postgresCommand } from '../../src/testing/processes/postgres.js'
import { spawnChild, waitForCondition } from '../../src/testing/processes/processes.js'

/** A server that Debian or PGDG has installed: the embedded one brings no pg_dump, and an older pg_dump refuses it. */

const ROOT = '/usr/lib/postgresql'
const BIN = (existsSync(ROOT) ? readdirSync(ROOT) : [])
  .map((version) => join(ROOT, version, 'bin'))
  .filter((dir) => ['postgres', 'initdb', 'pg_dump'].every((name) => existsSync(join(dir, name))))
  .at(-1)

const has = (program: string) => spawnSync(program, ['--version']).status === 0

/** What is missing on this machine for dumps. Null where nothing is. */
export const missingForDumps: string | null =
  [
    ...(BIN ? [] : ['postgresql']),
    ...['pg_restore', 'psql'].filter((program) => !has(program)),
  ].join(', ') || null

/** @param folder that is to hold its data @returns its URL, and how it ends */
export async function startInstalledPostgres(folder: string) {
  const user = choosePostgresUser()
  const dataDir = join(folder, 'installed')
  const run = (program: string, args: string[]) => postgresCommand(user, join(BIN!, program), args)
  const [initdb, initArgs] = run('initdb', [
    '-D',
    dataDir,
    '-U',
    'postgres',
    '--auth=trust',
    '-E',
    'UTF8',
    '--no-sync',
  ])
  execFileSync(initdb, initArgs, { ...user.ids, cwd: '/', stdio: 'pipe' })
  const port = await chooseFreePort()
  const settings = [
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    'unix_socket_directories=',
    '-c',
    'fsync=off',
  ]
  const [command, args] = run('postgres', ['-D', dataDir, '-p', String(port), ...settings])
  const logFile = join(folder, 'installed.log')
  const child = await spawnChild({
    command,
    args,
    logFile,
    cwd: '/',
    exitSignal: 'SIGINT',
    ...user.ids,
  })
  await waitForCondition(() => child.logTail().includes('ready to accept connections'), 30_000)
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`
  /** Dumps a database. @returns the dump's path */
  function dumpOf(database: string, name: string, ...options: string[]): string {
    const path = join(folder, name)
    execFileSync(join(BIN!, 'pg_dump'), [...options, '-f', path, database], { stdio: 'pipe' })
    return path
  }
  return {
    url,
    dump: (name: string, ...options: string[]) => dumpOf(url, name, ...options),
    dumpOf,
    stop: () => child.end('SIGINT', 10_000),
  }
}
