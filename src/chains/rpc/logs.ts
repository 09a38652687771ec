import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { USER_AGENT } from '../../ops/version.js'
import type { Commitment } from './solana.js'

const RECONNECT_MS = 2_000

export interface ProgramLogsWatchOptions {
  /** WebSocket URLs, one for each attempt in turn. */
  urls: readonly string[]
  /** The program's address in base58. */
  programId: string
  commitments: readonly Commitment[]
  onLogs: () => void
  onFault: (error: Error) => void
}

/**
 * Watches over a WebSocket (`logsSubscribe`) for transactions that mention a program. `onLogs` only wakes the watcher,
 * which reads the transactions itself, so a silent socket delays payments but loses none. viem's WebSocket client does
 * not fit: only `eth_subscription` notifications reach its subscribers.
 * @returns a function that ends the subscription
 */
export function watchProgramLogs(options: ProgramLogsWatchOptions): () => void {
  const { urls, onLogs, onFault } = options
  const end = new AbortController()
  const watch = async (): Promise<void> => {
    for (let attempts = 0; !end.signal.aborted; attempts++) {
      await connection(urls[attempts % urls.length]!, options, end.signal).catch(onFault)
      // wakes the watcher, which reads the transactions of the time without a connection
      onLogs()
      await sleep(RECONNECT_MS, undefined, { signal: end.signal, ref: false }).catch(() => {})
    }
  }
  void watch()
  return () => end.abort()
}

/**
 * Subscribes over a new connection.
 * @returns once the connection has ended
 * @throws the connection's error
 */
async function connection(
  url: string,
  { programId, commitments, onLogs }: ProgramLogsWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  const { WebSocket } = await import('ws')
  const socket = new WebSocket(url, { headers: { 'user-agent': USER_AGENT } })
  socket.on('open', () => {
    for (const [id, commitment] of commitments.entries()) {
      const params = [{ mentions: [programId] }, { commitment }]
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'logsSubscribe', params }))
    }
  })
  socket.on('message', (data) => {
    if (isNotification(String(data))) onLogs()
  })
  // the first error is thrown below; terminating a connection that is not open yet emits another error
  socket.on('error', () => {})
  await once(socket, 'close', { signal }).finally(() => socket.terminate())
}

/** True if a message is a notification; answers to a subscription have no method. */
const isNotification = (text: string): boolean => text.includes('"logsNotification"')
