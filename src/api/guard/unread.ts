import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Bounds of what is kept for callers that read slowly. */
export interface UnreadLimits {
  /** Bytes of a socket's answers; a single one may be larger. */
  socketBytes: number
  /** Bytes of all answers of the process. */
  totalBytes: number
  /** Time within which a socket's answers have to be read. */
  readMs: number
}

const LIMITS: UnreadLimits = { socketBytes: 4 * 1024 * 1024, totalBytes: 128 * 1024 * 1024, readMs: 60_000 }

/**
 * Creates the watch over answers that were sent and not yet read. A socket is closed over its own bound; over the
 * process's, those are that have waited longest.
 * @returns function to call with each answer that was sent, and its bytes
 */
export function createUnreadWatch(limits: Partial<UnreadLimits> = {}) {
  const { socketBytes, totalBytes, readMs } = { ...LIMITS, ...limits }
  /** Sockets with unread answers, the longest waiting first. */
  const unread = new Map<Socket, { bytes: number; end(): void }>()
  let total = 0
  const take = (socket: Socket, bytes: number): void => {
    const own = unread.get(socket)
    if (!own) return
    total -= Math.min(own.bytes, bytes)
    own.bytes -= bytes
    if (own.bytes > 0) return
    unread.delete(socket)
    own.end()
  }
  const close = (socket: Socket): void => {
    take(socket, Number.POSITIVE_INFINITY)
    socket.destroy()
  }
  const begin = (socket: Socket) => {
    const onClose = () => close(socket)
    const timer = setTimeout(onClose, readMs)
    socket.once('close', onClose)
    const end = () => {
      clearTimeout(timer)
      socket.off('close', onClose)
    }
    const own = { bytes: 0, end }
    unread.set(socket, own)
    return own
  }
  return (socket: Socket, res: ServerResponse, bytes: number): void => {
    // the system takes nearly all answers at once
    if (socket.destroyed || (res.socket === socket && socket.writableLength === 0)) return
    const own = unread.get(socket) ?? begin(socket)
    own.bytes += bytes
    total += bytes
    res.once('close', () => take(socket, bytes))
    if (own.bytes > socketBytes && own.bytes > bytes) close(socket)
    for (const [oldest] of unread) {
      if (total <= totalBytes) break
      close(oldest)
    }
  }
}
