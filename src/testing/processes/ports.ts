import { statSync, utimesSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { tryLock } from './files.js'

const LOOPBACK = '127.0.0.1'
const MAX_PORT = 65_535
/** Ports below those of outgoing connections, which would take some between choice and use: 32,768 on Linux. */
const FREE_PORTS = { from: 10_000, below: 32_768 }
/** Distance between the first ports of two processes, so parallel launchers choose different ones. */
const PORTS_APART = 61
/** Time within which a chosen port is bound, seconds. */
const CHOSEN_S = 60
/** Number of ports that `nextFreePort` tries beyond the preferred one. */
const NEXT_PORT_TRIES = 200

const count = FREE_PORTS.below - FREE_PORTS.from
let next = (process.pid * PORTS_APART) % count

export async function freePort(): Promise<number> {
  for (;;) {
    next = (next + 1) % count
    const port = FREE_PORTS.from + next
    // each user's own: another's file can't be dated
    const file = path.join(os.tmpdir(), `clusterd-free-port-${process.getuid?.()}-${port}`)
    if ((await isPortFree(port)) && isFirst(file)) return port
  }
}

function isFirst(file: string): boolean {
  const nowS = Date.now() / 1_000
  try {
    writeFileSync(file, '', { flag: 'wx' })
    return true
  } catch {
    if (nowS - statSync(file).mtimeMs / 1_000 < CHOSEN_S) return false
    utimesSync(file, nowS, nowS)
    return true
  }
}

/**
 * First free port from `preferred` upwards on loopback, claimed for the life of this process, so concurrent
 * launchers differ even before binding.
 * @throws Error when none of the next 200 ports is free
 */
export async function nextFreePort(preferred: number): Promise<number> {
  const last = Math.min(preferred + NEXT_PORT_TRIES, MAX_PORT)
  for (let port = preferred; port <= last; port++) {
    if (!(await isPortFree(port))) continue
    if (claim(path.join(os.tmpdir(), `clusterd-port-${port}.lock`))) return port
  }
  throw new Error(`finding a free port: ${preferred} to ${last} are all taken`)
}

/** Until this process ends; false where another process, or another user's file, has the port. */
function claim(file: string): boolean {
  try {
    const taken = tryLock(file)
    if ('lock' in taken) process.once('exit', taken.lock.release)
    return 'lock' in taken
  } catch {
    return false
  }
}

/** False when the port is taken or forbidden. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = net.createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false)
      else reject(error)
    })
    server.listen(port, LOOPBACK, () => server.close(() => resolve(true)))
  })
}
