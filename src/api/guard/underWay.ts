import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of a socket that are served at once: browsers and common clients send the next after an answer. */
export const MAX_UNDER_WAY = 8
/** Time for the answers of a socket that is closed to reach its other end. */
const LINGER_MS = 5_000

interface UnderWay {
  /** Answers that are not sent yet, in the order of their requests, which is that in which they close. */
  open: ServerResponse[]
  isEnding: boolean
}

/**
 * Creates the gate of pipelined requests, which Node parses 64 KiB at a time before any back-pressure. A request over
 * the limit ends its socket: those before it are answered.
 * @returns whether a request is to be served
 */
export function createPipelineBound(): (socket: Socket, res: ServerResponse) => boolean {
  const sockets = new WeakMap<Socket, UnderWay>()
  return (socket, res) => {
    const own = sockets.get(socket)
    if (!own) {
      sockets.set(socket, { open: [res], isEnding: false })
      return true
    }
    const { open } = own
    if (own.isEnding) return false
    while (open[0]?.closed) open.shift()
    if (open.length === MAX_UNDER_WAY) {
      own.isEnding = true
      socket.pause()
      open.at(-1)!.once('close', () => closeGently(socket))
      return false
    }
    open.push(res)
    return true
  }
}

/** Closes our half at once, and the rest when the other end had time to read. */
export function closeGently(socket: Socket): void {
  socket.end()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}
