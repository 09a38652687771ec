import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { waitForCondition } from '../../src/testing/processes/processes.js'

const NOBODY = 65_534
const START_LIMIT_MS = 10_000
const COMMAND = ['pgbouncer', '/usr/sbin/pgbouncer'].find(
  (name) => spawnSync(name, ['--version']).status === 0,
)

/** Whether this machine has a pgbouncer. */
export const hasPgbouncer = COMMAND !== undefined

/**
 * Starts pgbouncer in transaction mode before a server.
 * @param wantedPort default: a free one
 * @returns the server's URL through it
 */
export async function startPgbouncer(serverUrl: string, poolSize: number, wantedPort?: number) {
  const server = new URL(serverUrl)
  const folder = mkdtempSync(join(tmpdir(), 'clusterd-pgbouncer-'))
  const port = wantedPort ?? (await chooseFreePort())
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(
    file,
    `[databases]
* = host=${server.hostname} port=${server.port} user=${server.username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
server_login_retry = 1
`,
  )
  chmodSync(folder, 0o755)
  // it refuses to run as root
  const ids = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const child = spawn(COMMAND!, [file], { ...ids, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const isUp = () => said.includes('process up') || child.exitCode !== null
  if (!(await waitForCondition(isUp, START_LIMIT_MS)) || child.exitCode !== null)
    throw new Error(`starting pgbouncer: ${said}`)
  // the lines of a long run are read and dropped
  child.stderr.removeAllListeners('data').resume()
  const url = new URL(serverUrl)
  url.port = String(port)
  return {
    url: url.href,
    port,
    async stop(): Promise<void> {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
