import { randomInt } from 'node:crypto'
import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { type FileLock, tryLock } from './files.js'

const LOOPBACK = '127.0.0.1'
const MAX_PORT = 65_535
/** Ports below those of outgoing connections, which would take some between choice and use: 32,768 on Linux. */
const FREE_PORTS = { from: 10_000, below: 32_768 }
/** Number of ports that `nextFreePort` tries beyond the preferred one. */
const NEXT_PORT_TRIES = 200

/** Ports handed out by this process, possibly unbound yet, so that parallel callers never get the same one. */
const handedOut = new Set<number>()

/** Picks a free TCP port on loopback, never the same one twice, nor one that another launcher has picked. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FREE_PORTS.from, FREE_PORTS.below)
    if (handedOut.has(port)) continue
    handedOut.add(port)
    if ((await isPortFree(port)) && claim(port)) return port
    handedOut.delete(port)
  }
}

/** Ports claimed by this process, each with the lock that other launchers see, also while nobody listens there. */
const claimed = new Map<number, FileLock>()
process.once('exit', () => {
  for (const lock of claimed.values()) lock.release()
})

/**
 * First free port from `preferred` upwards on loopback, claimed for the life of this process, so that concurrent
 * launchers differ even before binding.
 * @throws Error when none of the next 200 ports is free
 */
export async function nextFreePort(preferred: number): Promise<number> {
  const last = Math.min(preferred + NEXT_PORT_TRIES, MAX_PORT)
  for (let port = preferred; port <= last; port++) {
    if (!handedOut.has(port) && (await isPortFree(port)) && claim(port)) {
      handedOut.add(port)
      return port
    }
  }
  throw new Error(`finding a free port: ${preferred} to ${last} are all taken`)
}

/** Releases a port once its listener has ended. */
export function releasePort(port: number): void {
  handedOut.delete(port)
  claimed.get(port)?.release()
  claimed.delete(port)
}

function claim(port: number): boolean {
  try {
    const result = tryLock(path.join(os.tmpdir(), `clusterd-port-${port}.lock`))
    if ('heldBy' in result) return false
    claimed.set(port, result.lock)
    return true
  } catch {
    return true // another user's file: only the bind will tell
  }
}

/** Whether `port` on loopback can be bound at this moment; false when it is taken or forbidden. */
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
