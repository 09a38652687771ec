import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { RequestHandler } from 'express'
import { createMcpServer } from './tools.js'

export interface McpOptions {
  url: string
  http?: string
}

const LOOPBACK = '127.0.0.1'
const LOOPBACK_NAMES = ['localhost', LOOPBACK, '[::1]']
const MAX_CONNECTIONS = 100
const MAX_PORT = 65_535

/** `clusterd mcp`: tools for agents, over stdio or streamable HTTP, until the agent or a signal ends it. */
export async function mcp({ url, http }: McpOptions): Promise<void> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new Error(`--url ${url} is no HTTP address.`)
  if (http === undefined) return createMcpServer(url).connect(new StdioServerTransport())
  const port = Number(http)
  if (!/^\d+$/.test(http) || port > MAX_PORT) throw new Error(`--http ${http} is no port.`)
  const server = await serveMcp(url, port)
  console.error(`MCP on http://${LOOPBACK}:${(server.address() as AddressInfo).port}/mcp for ${url}`)
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.once(signal, () => {
      server.close()
      server.closeAllConnections()
    })
}

/** Streamable HTTP on loopback, without sessions: a request is a server of its own, which leaves nothing behind. */
async function serveMcp(url: string, port: number): Promise<Server> {
  // checks the Host header, so that no name that a web page rebinds to loopback leads here
  const app = createMcpExpressApp({ host: LOOPBACK })
  app.use(refuseOrigins)
  app.post('/mcp', async (req, res) => {
    const server = createMcpServer(url)
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true })
    res.once('close', () => void server.close())
    // its optional members are declared without undefined
    await server.connect(transport as Transport)
    await transport.handleRequest(req, res, req.body)
  })
  app.all('/mcp', (_req, res) => void res.status(405).set('allow', 'POST').end())
  const server = createServer(app)
  server.maxConnections = MAX_CONNECTIONS
  server.listen(port, LOOPBACK)
  await once(server, 'listening').catch((error: Error) => {
    throw new Error(`--http ${port} can not be had (${(error as NodeJS.ErrnoException).code}): name a free port.`)
  })
  return server
}

/** Refuses web pages of other sites, which a browser names in Origin. */
const refuseOrigins: RequestHandler = (req, res, next) => {
  const { origin } = req.headers
  if (origin === undefined || (URL.canParse(origin) && LOOPBACK_NAMES.includes(new URL(origin).hostname))) next()
  else
    res.status(403).json({ jsonrpc: '2.0', error: { code: -32_000, message: 'The origin is not allowed.' }, id: null })
}
