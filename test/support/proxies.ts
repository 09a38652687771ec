import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { spawnChild, waitForCondition } from '../../src/testing/processes/processes.js'
import { placed, read } from './topologyFiles.js'

const START_LIMIT_MS = 10_000

/** A proxy that this machine may have. */
export interface ProxyProgram {
  isInstalled: boolean
  /** Its name or path; undefined where it is not installed. */
  command: string | undefined
  /** Its file in examples/deploy/topology. */
  example: string
  /** Starts it. @param configOf its configuration, from the port to listen at and a folder of its own */
  start(configOf: (port: number, folder: string) => string): Promise<RunningProxy>
}

export interface RunningProxy {
  url: string
  port: number
  stop(): Promise<void>
}

/** @param argsOf arguments, from the configuration's path and the folder */
function proxyProgram(
  name: string,
  example: string,
  argsOf: (file: string, folder: string) => string[],
): ProxyProgram {
  const command = [name, `/usr/sbin/${name}`].find((path) => spawnSync(path, ['-v']).status === 0)
  return {
    isInstalled: command !== undefined,
    command,
    example,
    async start(configOf) {
      if (command === undefined) throw new Error(`${name} is not installed here.`)
      const folder = mkdtempSync(join(tmpdir(), 'clusterd-proxy-'))
      // for the users that it changes to
      chmodSync(folder, 0o755)
      mkdirSync(join(folder, 'logs'))
      const port = await chooseFreePort()
      const file = join(folder, 'proxy.conf')
      writeFileSync(file, configOf(port, folder))
      const logFile = join(folder, 'proxy.log')
      const child = await spawnChild({ command, args: argsOf(file, folder), logFile })
      const isOver = async () => child.hasExited() || (await isConnectable(port))
      if (!(await waitForCondition(isOver, START_LIMIT_MS)) || child.hasExited())
        throw new Error(`starting ${name}: ${child.logTail()}`)
      return {
        url: `http://127.0.0.1:${port}`,
        port,
        async stop() {
          await child.end('SIGKILL', 0)
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
  }
}

/** True if a port of this machine accepts a connection. A check that bound it would be in the program's way. */
const isConnectable = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = net.connect({ host: '127.0.0.1', port })
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })

export const NGINX = proxyProgram('nginx', 'nginx.conf', (file, folder) => [
  '-p',
  folder,
  '-c',
  file,
  '-g',
  'daemon off;',
])
export const HAPROXY = proxyProgram('haproxy', 'haproxy.cfg', (file) => ['-db', '-f', file])

/** A running proxy of examples/deploy/topology. */
interface RunningExample extends RunningProxy {
  /** Port of the same frontend that takes HTTP/2 without TLS. */
  http2Port: number
}

/**
 * Starts a proxy with its configuration of examples/deploy/topology, before one API.
 * @param apiPort for all of the configuration's processes
 * @param timeouts seconds by a timeout's text in the file, such as `timeout client`; default: as in the file
 */
export async function startExample(
  program: ProxyProgram,
  apiPort: number,
  timeouts: ReadonlyMap<string, number> = new Map(),
): Promise<RunningExample> {
  const opsPort = await chooseFreePort()
  const http2Port = await chooseFreePort()
  const places = new Map([1, 2, 3].map((n) => [`api-${n}:3000`, apiPort]))
  let example = placed(read(program.example), places)
  for (const [name, seconds] of timeouts)
    example = replaced(example, new RegExp(`(?<=^ *${name} )\\d+s`, 'm'), `${seconds}s`)
  const proxy = await program.start((port) =>
    example
      .replace('bind :8080', `bind 127.0.0.1:${port}\n  bind 127.0.0.1:${http2Port} proto h2`)
      .replace('bind :8404', `bind 127.0.0.1:${opsPort}`)
      .replace('listen 8080;', `listen 127.0.0.1:${port}; listen 127.0.0.1:${http2Port} http2;`)
      // the operator's port is asked elsewhere
      .replace('option httpchk', '')
      .replace('default-server check port 3001 inter', 'default-server check inter'),
  )
  return { ...proxy, http2Port }
}

/** @throws Error if the text has nothing to replace */
function replaced(text: string, pattern: RegExp, value: string): string {
  if (!pattern.test(text)) throw new Error(`nothing matches ${pattern}`)
  return text.replace(pattern, value)
}
