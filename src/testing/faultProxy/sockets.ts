import { WebSocket } from 'ws'
import type { FaultyPipe } from './pipe.js'

/**
 * JSON-RPC methods that are forwarded over the node's WebSocket, without faults. All other methods are forwarded over
 * HTTP.
 */
const SUBSCRIPTION_METHODS = ['eth_subscribe', 'eth_unsubscribe']

/** Connects a client's WebSocket to a new WebSocket of the node, and injects faults between them. */
export function relayWebSocket(client: WebSocket, wsUrl: string, pipe: FaultyPipe): void {
  const node = new WebSocket(wsUrl)
  /** True if no more messages are passed in either direction, while the WebSocket stays open. */
  let isSilent = false
  const toClient = (text: string) => {
    if (!isSilent && client.readyState === WebSocket.OPEN) client.send(text)
  }
  const end = () => {
    client.terminate()
    node.terminate()
  }

  // the client's messages wait until the node's socket is open
  client.pause()
  node.on('open', () => client.resume())
  client.on('message', async (data) => {
    if (isSilent) return
    const text = String(data)
    try {
      const { method } = JSON.parse(text) as { method?: string }
      if (method !== undefined && SUBSCRIPTION_METHODS.includes(method)) return node.send(text)
      const reply = await pipe.handle(text)
      // a WebSocket has no HTTP status, so an error status ends the connection
      if (reply === null || reply.status >= 400) end()
      else toClient(reply.text)
    } catch {
      end()
    }
  })
  node.on('message', (data) => {
    const text = String(data)
    if (!text.includes('eth_subscription')) return toClient(text)
    const { kind, delayMs } = pipe.notification()
    if (kind === 'silent_socket') isSilent = true
    else if (kind === 'drop') end()
    else if (kind === 'delay') setTimeout(() => toClient(text), delayMs)
    else toClient(text)
  })
  for (const socket of [client, node]) {
    socket.on('close', end)
    socket.on('error', end)
  }
}
