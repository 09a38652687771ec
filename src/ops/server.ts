import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Metrics } from './metrics.js'

/** Answer of /ready. */
export interface Readiness {
  ready: boolean
  /** One sentence each. */
  problems: string[]
}

export interface OpsOptions {
  port: number
  metrics: Metrics
  /** May add fields for the operator. */
  ready: () => Promise<Readiness & Record<string, unknown>>
}

/** Serves health, readiness and metrics on a port of their own, on loopback only. */
export async function startOpsServer({
  port,
  metrics,
  ready,
}: OpsOptions): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    const json = (status: number, body: unknown) => {
      response
        .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
        .end(`${JSON.stringify(body)}\n`)
    }
    const path = (request.url ?? '/').split('?')[0]
    const answer = async (): Promise<void> => {
      if (path === '/health') return json(200, { status: 'ok' })
      if (path === '/ready') {
        const state = await ready()
        return json(state.ready ? 200 : 503, state)
      }
      if (path === '/metrics') {
        const text = await metrics.registry.metrics()
        response.writeHead(200, { 'content-type': metrics.registry.contentType }).end(text)
        return
      }
      json(404, { status: 404, error: 'not_found', message: 'Operator routes: /health, /ready, /metrics.' })
    }
    answer().catch((error: Error) => json(500, { status: 500, error: 'internal', message: error.message }))
  })
  server.requestTimeout = 10_000
  server.headersTimeout = 5_000
  return {
    port: await listen(server, port, '127.0.0.1'),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Listens on a port, 0 for any. @returns the port @throws Error with one sentence that names a taken port */
export function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`Port ${port} on ${host} is taken: set PORT and OPS_PORT to free ones.`)
          : error,
      ),
    )
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port))
  })
}
