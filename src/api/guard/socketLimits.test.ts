import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { applySocketLimits, serverLimits } from './socketLimits.js'

it('a closing server waits for requests in progress, and not for connections without a request', async () => {
  let begun = (_res: ServerResponse): void => {}
  const asked = new Promise<ServerResponse>((resolve) => {
    begun = resolve
  })
  const server = createServer(serverLimits(), (_req, res) => begun(res))
  const closeUnused = applySocketLimits(server)
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
