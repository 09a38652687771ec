import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { type WebSocket, WebSocketServer } from 'ws'
import type { FaultSeverity } from './answers.js'
import type { FaultKind, Faults } from './kinds.js'
import { createFaultyPipe, type FaultyPipe } from './pipe.js'
import { relayWebSocket } from './sockets.js'
import { createUpstreamCaller } from './upstream.js'

const PROXY_HOST = '127.0.0.1'
const DEFAULT_FAULT_LIMITS: FaultSeverity = {
  delayMs: 500,
  retryAfterS: 1,
  rangeBlocks: 5,
  staleBlocks: 6,
}

export interface FaultProxyOptions {
  /** URLs of the node behind the proxy. */
  target: { rpcUrl: string; wsUrl: string }
  /**
   * Seed of the random faults. A call's fault depends only on the seed, the probabilities, the method, and how many
   * calls of this method came before, so the same calls get the same faults.
   */
  seed: number
  /** Faults to inject. Default: none. */
  faults?: Faults
  limits?: Partial<FaultSeverity>
}

export interface FaultProxy {
  readonly rpcUrl: string
  readonly wsUrl: string
  /** Numbers of injected faults so far, by kind. */
  counts(): Record<FaultKind, number>
  /** Replaces the faults to inject. */
  set(faults: Faults): void
  /** Resets every connection, and every new connection until `restore`. */
  cut(): void
  restore(): void
  stop(): Promise<void>
}

/** Starts a proxy that injects faults into HTTP and WebSocket connections to a node, on one loopback port. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { target, seed, faults = {}, limits } = options
  const pipe = createFaultyPipe(createUpstreamCaller(target.rpcUrl), seed, {
    ...DEFAULT_FAULT_LIMITS,
    ...limits,
  })
  pipe.set(faults)

  let isCut = false
  const connections = new Set<Socket>()
  const resetAll = () => {
    for (const connection of connections) connection.resetAndDestroy()
  }
  const server = http.createServer(
    (request, response) => void answerHttpRequest(pipe, request, response),
  )
  server.on('connection', (connection) => {
    if (isCut) return connection.resetAndDestroy()
    connections.add(connection)
    connection.once('close', () => connections.delete(connection))
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (client: WebSocket) => relayWebSocket(client, target.wsUrl, pipe))
  await once(server.listen(0, PROXY_HOST), 'listening')
  const { port } = server.address() as AddressInfo

  return {
    rpcUrl: `http://${PROXY_HOST}:${port}`,
    wsUrl: `ws://${PROXY_HOST}:${port}`,
    counts: () => ({ ...pipe.counts }),
    set: pipe.set,
    cut() {
      isCut = true
      resetAll()
    },
    restore() {
      isCut = false
    },
    async stop() {
      sockets.close()
      const closed = once(server.close(), 'close')
      resetAll()
      await closed
    },
  }
}

async function answerHttpRequest(
  pipe: FaultyPipe,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  try {
    const reply = await pipe.handle(await text(request))
    if (reply === null) request.socket.resetAndDestroy()
    else response.writeHead(reply.status, reply.headers).end(reply.text)
  } catch {
    // the client disconnected, or sent no JSON
    request.socket.destroy()
  }
}
