import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Requests of a socket that are served at once: browsers and common clients send the next after an answer. */
export const MAX_UNDER_WAY = 8
/** Time for the answers of a socket that is closed to reach its other end. */
const LINGER_MS = 5_000

interface UnderWay {
  count: number
  last: ServerResponse
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
    const own = sockets.get(socket) ?? { count: 0, last: res, isEnding: false }
    if (own.isEnding) return false
    if (own.count === MAX_UNDER_WAY) {
      own.isEnding = true
      socket.pause()
      own.last.once('close', () => closeGently(socket))
      return false
    }
    own.count++
    own.last = res
    res.once('close', () => own.count--)
    sockets.set(socket, own)
    return true
  }
}

/** Closes our half at once, and the rest when the other end had time to read. */
export function closeGently(socket: Socket): void {
  socket.end()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}
