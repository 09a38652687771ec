import { createServer, type IncomingMessage, type RequestListener, type ServerOptions } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Serves on a free port. */
export async function serve(listener: RequestListener, options: ServerOptions = {}) {
  const server = createServer(options, listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Cuts all connections. */
    drop: () => server.closeAllConnections(),
    async stop(): Promise<void> {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The body of a request. */
export async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Buffer.concat(parts).toString()
}
