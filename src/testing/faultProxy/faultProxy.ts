import http from 'node:http'
import { type WebSocket, WebSocketServer } from 'ws'
import type { FaultLimits } from './answers.js'
import { FAULT_KINDS, type FaultKind, type FaultRequest, type Faults } from './kinds.js'
import type { LieMethod } from './lies.js'
import { createFaultyPipe, type FaultyPipe } from './pipe.js'
import { relayWebSocket } from './sockets.js'
import { LOOPBACK_HOST, listenOnLoopback, startTcpProxy } from './tcpProxy.js'
import { createUpstream } from './upstream.js'

const DEFAULT_LIMITS: FaultLimits = {
  delayMs: 500,
  retryAfterS: 1,
  rangeBlocks: 5,
  staleBlocks: 6,
  forkBlocks: 2,
}

export interface FaultProxyOptions {
  /** URLs of the node behind the proxy. */
  target: { rpcUrl: string; wsUrl: string }
  /**
   * Seed of the random faults. A fault depends only on the seed, the method and the number of the call of this method,
   * so the same calls get the same faults.
   */
  seed: number
  /** Faults to inject. Default: none. */
  faults?: Faults
  limits?: Partial<FaultLimits>
  /** Called for each injected fault. */
  log?: (fault: { kind: FaultKind } & Omit<FaultRequest, 'params'>) => void
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
  /** Keeps every connection open without an answer. `restore` forwards the waiting requests. */
  silence(): void
  /** Makes the next answer to a method wrong, once. `restore` cancels this if no call has come. */
  lieOnce(method: LieMethod): void
  /** Freezes the finalized block until `restore`. */
  stallFinality(): Promise<void>
  restore(): void
  stop(): Promise<void>
}

/** Starts a proxy that injects faults into HTTP and WebSocket connections to a node, on one loopback port. */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  let faults = options.faults ?? {}
  const counts = Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0])) as Record<
    FaultKind,
    number
  >
  const upstream = createUpstream(options.target.rpcUrl)
  const pipe = createFaultyPipe({
    upstream,
    seed: options.seed,
    faults: () => faults,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    onFault(kind, { method, ordinal }) {
      counts[kind] += 1
      options.log?.({ kind, method, ordinal })
    },
  })

  const server = http.createServer((request, response) => void answer(pipe, request, response))
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (client: WebSocket) =>
    relayWebSocket(client, options.target.wsUrl, pipe),
  )
  const wire = await startTcpProxy({ port: await listenOnLoopback(server) })

  return {
    rpcUrl: `http://${LOOPBACK_HOST}:${wire.port}`,
    wsUrl: `ws://${LOOPBACK_HOST}:${wire.port}`,
    counts: () => ({ ...counts }),
    set(next) {
      faults = next
    },
    cut: wire.cut,
    silence: wire.hold,
    lieOnce: (method) => void pipe.staged.lies.add(method),
    async stallFinality() {
      const { result } = await upstream('eth_getBlockByNumber', ['finalized', false])
      pipe.staged.finalized = (result as { number: string } | null)?.number ?? null
    },
    restore() {
      wire.restore()
      pipe.staged.lies.clear()
      pipe.staged.finalized = null
    },
    async stop() {
      sockets.close()
      await wire.stop()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function answer(
  pipe: FaultyPipe,
  request: http.IncomingMessage,
  response: http.ServerResponse,
): Promise<void> {
  try {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const reply = await pipe.handle(Buffer.concat(chunks).toString('utf8'))
    if (reply === null) request.socket.resetAndDestroy()
    else response.writeHead(reply.status, reply.headers).end(reply.text)
  } catch {
    // the client disconnected, or sent no JSON
    request.socket.destroy()
  }
}
