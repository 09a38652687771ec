import { createPublicClient, webSocket } from 'viem'

/**
 * Watches new heads over a WebSocket (`eth_subscribe newHeads`). The callback only wakes the poller, which reads the
 * head itself, so a silent socket costs latency but no block.
 * @returns a function that ends the subscription
 */
export function watchHeads(wsUrl: string, onHead: () => void, onFault: (error: Error) => void): () => void {
  const client = createPublicClient({
    transport: webSocket(wsUrl, { reconnect: { attempts: Number.POSITIVE_INFINITY, delay: 2_000 }, retryCount: 0 }),
  })
  return client.watchBlockNumber({ onBlockNumber: onHead, onError: onFault })
}
