import net from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { type FileLock, tryLock } from './files.js'

const LOOPBACK = '127.0.0.1'
const MAX_PORT = 65_535
/** How far `nextFreePort` looks beyond the preferred port before it gives up. */
const NEXT_PORT_TRIES = 200

/** Ports handed out by this process and perhaps not bound yet, so that two parallel callers never get the same one. */
const handedOut = new Set<number>()

/** Asks the system for a TCP port nobody listens on (loopback). Never answers the same port twice in one process. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = await listenOnce(0)
    if (port !== undefined && !handedOut.has(port)) {
      handedOut.add(port)
      return port
    }
  }
}

/** True when a listener could bind `port` on loopback at this moment. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await listenOnce(port)) !== undefined
}

/** Well-known ports this process has claimed, each with the lock that tells other launchers. */
const claimed = new Map<number, FileLock>()

/**
 * The first free port from `preferred` upwards (loopback), claimed for the life of this process: two launchers that start
 * at once don't get the same one, though neither has bound it yet.
 * @throws when none of the next 200 ports is free.
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

/** Gives ports back that were handed out, once their listener has ended. */
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
    return true // another user's file: then only the bind will tell
  }
}

/** Binds and closes at once; answers the port, or undefined when it is taken or forbidden. */
function listenOnce(port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = net.createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(undefined)
      else reject(error)
    })
    server.listen(port, LOOPBACK, () => {
      const address = server.address() as net.AddressInfo
      server.close(() => resolve(address.port))
    })
  })
}
