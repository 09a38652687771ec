import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { protectServer, serverLimits } from './socketLimits.js'

it('a server that closes waits for requests under way, and for no connection that has asked for nothing', async () => {
  let begun = (_res: ServerResponse): void => {}
  const asked = new Promise<ServerResponse>((resolve) => {
    begun = resolve
  })
  const server = createServer(serverLimits(), (_req, res) => begun(res))
  const closeUnused = protectServer(server, {}, () => false)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const unused = connect(port, '127.0.0.1').resume()
  await once(unused, 'connect')
  const answer = fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })
  const res = await asked
  let isClosed = false
  let isUnusedClosed = false
  unused.once('close', () => {
    isUnusedClosed = true
  })
  closeUnused()
  server.close(() => {
    isClosed = true
  })
  await expect.poll(() => isUnusedClosed, { timeout: 2_000 }).toBe(true)
  expect(isClosed).toBe(false)
  res.end('made')
  expect(await (await answer).text()).toBe('made')
  await expect.poll(() => isClosed, { timeout: 2_000 }).toBe(true)
})

it.each([
  { name: 'one address', isProxy: false, closedCount: 10 },
  { name: 'a proxy', isProxy: true, closedCount: 0 },
])('of 30 connections of $name, $closedCount are closed', async ({ isProxy, closedCount }) => {
  const server = createServer(serverLimits(), (_req, res) => res.end())
  const closeUnused = protectServer(server, { maxOfAddress: 20 }, () => isProxy)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const sockets = Array.from({ length: 30 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  const closed = () => sockets.filter(({ closed }) => closed).length
  let answered = 0
  for (const socket of sockets) socket.once('data', () => answered++)
  await Promise.all(sockets.map((socket) => once(socket.resume(), 'connect').catch(() => {})))
  for (const socket of sockets) socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await expect.poll(() => answered + closed(), { timeout: 5_000 }).toBe(30)
  expect(closed()).toBe(closedCount)
  sockets.find((socket) => !socket.closed)!.destroy()
  await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200)
  closeUnused()
  server.close()
  for (const socket of sockets) socket.destroy()
})
