import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { type FileLock, tryLockFile } from './files.js'

const LOOPBACK = '127.0.0.1'
const MAX_PORT = 65_535
/**
 * Range of ports to choose from. It is below the ports of outgoing connections (on Linux from 32,768), since such a
 * connection could take a port between its choice and its use.
 */
const FREE_PORTS = { from: 10_000, below: 32_768 }
/** Distance between the first ports that processes with successive ids try, so that they choose different ports. */
const PORTS_APART = 61
/** Number of ports that `chooseFreePortFrom` tries after the preferred one. */
const NEXT_PORT_TRIES = 200

const count = FREE_PORTS.below - FREE_PORTS.from
let next = (process.pid * PORTS_APART) % count

/** A free port on loopback, claimed until this process ends. */
export async function chooseFreePort(): Promise<number> {
  for (;;) {
    next = (next + 1) % count
    const port = FREE_PORTS.from + next
    // claimed first: the check binds the port for a moment, in which the process that claimed it could not bind it
    if (claim(port) && (await isPortFree(port))) return port
  }
}

/**
 * First free port from `preferred` upwards on loopback. The port is claimed until this process ends, so that concurrent
 * launchers choose different ports even before binding.
 * @throws Error when none of the next 200 ports is free
 */
export async function chooseFreePortFrom(preferred: number): Promise<number> {
  const last = Math.min(preferred + NEXT_PORT_TRIES, MAX_PORT)
  for (let port = preferred; port <= last; port++) {
    if (!(await isPortFree(port))) continue
    if (claim(port)) return port
  }
  throw new Error(`finding a free port: ${preferred} to ${last} are all taken`)
}

const claims: FileLock[] = []

/**
 * Claims a port until this process ends. False where another process or this one has claimed the port, or the lock file
 * can't be written.
 */
function claim(port: number): boolean {
  try {
    const taken = tryLockFile(path.join(os.tmpdir(), `clusterd-port-${port}.lock`))
    if ('heldBy' in taken) return false
    if (claims.length === 0) process.once('exit', releaseClaims)
    claims.push(taken.lock)
    return true
  } catch {
    return false
  }
}

function releaseClaims(): void {
  for (const lock of claims) lock.release()
}

/** Whether this process can listen on a loopback port: false when the port is taken or not allowed. */
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
