import dgram from 'node:dgram'
import { once } from 'node:events'
import net from 'node:net'

const LOOPBACK_ADDRESS = '127.0.0.1'
const MAX_PORT = 65_535
/**
 * Range of ports to choose from. It is below the ports of outgoing connections (on Linux from 32,768), since an
 * outgoing connection could take a port between its choice and its use.
 */
const FREE_PORTS = { from: 10_000, below: 32_768 }
/** Distance between the first ports that processes with successive ids try, so that they choose different ports. */
const PORTS_APART = 61
/** Number of ports that `chooseFreePortFrom` tries after the preferred one. */
const NEXT_PORT_TRIES = 200

const FREE_PORT_COUNT = FREE_PORTS.below - FREE_PORTS.from
/** Offset of the port that was tried last, in `FREE_PORTS`. */
let lastPortOffset = (process.pid * PORTS_APART) % FREE_PORT_COUNT

/** A free port on loopback, claimed until this process ends. */
export async function chooseFreePort(): Promise<number> {
  for (;;) {
    lastPortOffset = (lastPortOffset + 1) % FREE_PORT_COUNT
    const port = FREE_PORTS.from + lastPortOffset
    // claim the port before the check, which binds the port and so disturbs a process that has claimed it
    if ((await claimPort(port)) && (await isPortFree(port))) return port
  }
}

/** The port of an earlier start, so that clients' settings keep working; a free port if `last` is 0 or taken. */
export const reusePortIfFree = async (last: number): Promise<number> =>
  last > 0 && (await isPortFree(last)) ? last : chooseFreePort()

/**
 * First free port from `preferred` upwards on loopback. The port is claimed until this process ends, so that concurrent
 * launchers choose different ports even before binding.
 * @throws Error when neither `preferred` nor one of the next 200 ports is free
 */
export async function chooseFreePortFrom(preferred: number): Promise<number> {
  const last = Math.min(preferred + NEXT_PORT_TRIES, MAX_PORT)
  for (let port = preferred; port <= last; port++)
    if ((await isPortFree(port)) && (await claimPort(port))) return port
  throw new Error(`finding a free port: ${preferred} to ${last} are all taken`)
}

/**
 * Claims a TCP port until this process ends, by binding the UDP port with the same number: the system gives a UDP port
 * to one process. False where another process or this one has claimed the port.
 */
async function claimPort(port: number): Promise<boolean> {
  const socket = dgram.createSocket('udp4').unref()
  try {
    socket.bind({ port, address: LOOPBACK_ADDRESS, exclusive: true })
    await once(socket, 'listening')
    return true
  } catch {
    socket.close()
    return false
  }
}

/** Whether this process can listen on a loopback port: false when the port is taken or not allowed. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = net.createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(false)
      else reject(error)
    })
    server.listen(port, LOOPBACK_ADDRESS, () => server.close(() => resolve(true)))
  })
}
