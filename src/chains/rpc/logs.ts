import type { WebSocket as Socket } from 'ws'
import type { Commitment } from './solana.js'

const RECONNECT_MS = 2_000

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
 * Watches transactions that mention a program over a WebSocket (`logsSubscribe`). The callback only wakes the watcher,
 * which reads the transactions itself, so a silent socket costs latency but no payment. viem's WebSocket client does
 * not fit: only `eth_subscription` notifications reach its subscribers.
 * @returns a function that ends the subscription
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
    open.on('open', () => subscribe(open, options))
    open.on('message', (data) => {
      if (isNotification(String(data))) options.onLogs()
    })
    open.on('error', options.onFault)
    open.on('close', () => {
      // transactions of the meantime are found by polling
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

/** Tells whether a message is a notification; answers to a subscription have no method. */
const isNotification = (text: string): boolean => text.includes('"logsNotification"')
