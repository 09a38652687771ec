import type { WebSocket as Socket } from 'ws'
import type { Commitment } from './solana.js'

const RECONNECT_MS = 2_000
/** A socket that says nothing for this long is asked whether it lives, and given up when it doesn't answer. */
const PING_EVERY_MS = 15_000

export interface LogsWatchOptions {
  /** Tried in turn. */
  urls: readonly string[]
  /** base58 */
  programId: string
  commitments: readonly Commitment[]
  onLogs: () => void
  onFault: (error: Error) => void
}

/**
 * Tells of transactions that mention a program, over a WebSocket (`logsSubscribe`). It only wakes the watcher, which asks for the
 * transactions itself: a socket that falls silent costs latency, never a payment.
 * @returns a function that ends it
 */
export function watchLogs(options: LogsWatchOptions): () => void {
  let isOver = false
  let socket: Socket | null = null
  let retry: NodeJS.Timeout | null = null
  let attempts = 0

  const connect = async (): Promise<void> => {
    const { WebSocket } = await import('ws')
    if (isOver) return
    const open = new WebSocket(options.urls[attempts++ % options.urls.length]!)
    socket = open
    let isAlive = true
    const pings = setInterval(() => {
      if (!isAlive) open.terminate()
      isAlive = false
      if (open.readyState === open.OPEN) open.ping()
    }, PING_EVERY_MS)
    open.on('open', () => subscribe(open, options))
    open.on('pong', () => {
      isAlive = true
    })
    open.on('message', (data) => {
      isAlive = true
      if (isNotification(String(data))) options.onLogs()
    })
    open.on('error', options.onFault)
    open.on('close', () => {
      clearInterval(pings)
      // what came meanwhile is found by asking
      options.onLogs()
      again()
    })
  }

  const again = (): void => {
    if (isOver) return
    retry = setTimeout(start, RECONNECT_MS)
    retry.unref()
  }
  const start = (): void => {
    connect().catch((error: Error) => {
      options.onFault(error)
      again()
    })
  }

  start()
  return () => {
    isOver = true
    if (retry) clearTimeout(retry)
    socket?.terminate()
  }
}

function subscribe(socket: Socket, { programId, commitments }: LogsWatchOptions): void {
  commitments.forEach((commitment, i) => {
    const params = [{ mentions: [programId] }, { commitment }]
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: i + 1, method: 'logsSubscribe', params }))
  })
}

/** The answer to a subscription has an id, a notification has a method. */
const isNotification = (text: string): boolean => text.includes('"logsNotification"')
