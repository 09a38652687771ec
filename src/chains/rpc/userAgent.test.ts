import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { bodyOf, serveInTest } from '../../../test/support/httpServer.js'
import { SERVICE_VERSION } from '../../ops/version.js'
import { createJsonRpcCaller } from './evm.js'
import { createSolanaRpcCaller } from './solana.js'
import { subscribeToNode } from './subscriptions.js'

const EXPECTED_USER_AGENT = `clusterd/${SERVICE_VERSION}`

it.each([
  ['EVM', (url: string) => createJsonRpcCaller(url)('eth_blockNumber', [])],
  ['Solana', (url: string) => createSolanaRpcCaller(url, 5_000)('getGenesisHash', [])],
])('a node of %s that refuses requests without a User-Agent gets ours', async (_, call) => {
  const url = await serveInTest(async (request, response) => {
    const { id } = JSON.parse(await bodyOf(request)) as { id: number }
    const isNamed = request.headers['user-agent'] === EXPECTED_USER_AGENT
    if (isNamed) response.end(JSON.stringify({ jsonrpc: '2.0', id, result: '0x1' }))
    else response.writeHead(403).end('error code: 1010')
  })
  expect(await call(url)).toBe('0x1')
})

it('a WebSocket server gets the User-Agent too', async () => {
  const server = createServer()
  const upgrade = new Promise<IncomingMessage>((resolve) =>
    server.on('upgrade', (request, socket) => {
      // the client may reset the connection that it was refused
      socket.on('error', () => {})
      socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      resolve(request)
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const stop = subscribeToNode({
    urls: [`ws://127.0.0.1:${port}`],
    requests: [],
    onNotification: () => {},
    onEnd: () => {},
  })
  onTestFinished(() => {
    stop()
    server.close()
  })
  expect((await upgrade).headers['user-agent']).toBe(EXPECTED_USER_AGENT)
})
