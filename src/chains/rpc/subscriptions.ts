import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { USER_AGENT } from '../../ops/version.js'

const RECONNECT_PAUSE_MS = 2_000
/** Interval of pings, which show that a quiet connection is alive. A missing answer ends the connection. */
const PING_MS = 30_000
/** Largest message, bytes. */
const MAX_MESSAGE_BYTES = 2 ** 20

interface SubscriptionOptions {
  /** WebSocket URLs. Each connection attempt uses the next one. */
  urls: readonly string[]
  /** JSON-RPC requests that subscribe. */
  requests: readonly { method: string; params: readonly unknown[] }[]
  onNotification: (text: string) => void
  /** Called when a connection has ended, before the next attempt. Notifications in between are lost. */
  onEnd: (error?: Error) => void
}

/**
 * Subscribes to notifications of a node over a WebSocket. A notification only wakes a worker, which reads the chain
 * itself, so a silent socket costs time but loses nothing. viem's client does not fit: it passes on only
 * `eth_subscription`, and requests `net_version` to keep a connection alive.
 * @returns a function that ends the subscription
 */
export function subscribeToNode(options: SubscriptionOptions): () => void {
  const { urls, onEnd } = options
  const end = new AbortController()
  const watch = async (): Promise<void> => {
    for (let attempts = 0; !end.signal.aborted; attempts++) {
      await holdSubscription(urls[attempts % urls.length]!, options, end.signal).then(
        () => onEnd(),
        onEnd,
      )
      await sleep(RECONNECT_PAUSE_MS, undefined, { signal: end.signal, ref: false }).catch(() => {})
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
async function holdSubscription(
  url: string,
  { requests, onNotification }: SubscriptionOptions,
  signal: AbortSignal,
): Promise<void> {
  const { WebSocket } = await import('ws')
  const headers = { 'user-agent': USER_AGENT }
  const limits = { handshakeTimeout: PING_MS, maxPayload: MAX_MESSAGE_BYTES }
  const socket = new WebSocket(url, { headers, ...limits })
  let isAlive = true
  const pings = setInterval(() => {
    if (!isAlive) socket.terminate()
    isAlive = socket.readyState !== socket.OPEN
    if (!isAlive) socket.ping()
  }, PING_MS)
  socket.on('pong', () => {
    isAlive = true
  })
  socket.on('open', () => {
    for (const [id, request] of requests.entries())
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, ...request }))
  })
  socket.on('message', (data) => {
    const text = String(data)
    if (isNotification(text)) onNotification(text)
  })
  // the first error is thrown below; terminating a connection that is not open yet emits another error
  socket.on('error', () => {})
  await once(socket, 'close', { signal }).finally(() => {
    clearInterval(pings)
    socket.terminate()
  })
}

/** True if a message is a notification; answers to a subscription have no method. */
const isNotification = (text: string): boolean => text.includes('"method"')
