import { createPublicClient, webSocket } from 'viem'

/**
 * Tells of new heads over a WebSocket (`eth_subscribe newHeads`). It only wakes the poller, which asks for the head itself:
 * a socket that falls silent costs latency, never a block.
 * @returns a function that ends the subscription
 */
export function watchHeads(wsUrl: string, onHead: () => void, onFault: (error: Error) => void): () => void {
  const client = createPublicClient({
    transport: webSocket(wsUrl, { reconnect: { attempts: Number.POSITIVE_INFINITY, delay: 2_000 }, retryCount: 0 }),
  })
  return client.watchBlockNumber({ onBlockNumber: onHead, onError: onFault })
}
