import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { applySocketLimits, closeAfterResponse, serverLimits } from './socketLimits.js'

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

/** A protected server, and a connection to it with the data received so far. */
async function connectTo(listener: RequestListener) {
  const server = createServer(serverLimits(), listener)
  applySocketLimits(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  let text = ''
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('data', (bytes) => {
    text += bytes
  })
  return { socket, text: () => text, stop: () => server.close() }
}

it('requests that are pipelined after the last response of a connection are not parsed', async () => {
  let parsed = 0
  const { socket, text, stop } = await connectTo((req, res) => {
    parsed += 1
    closeAfterResponse({ req, res })
    res.end('refused')
  })
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(500))
  await once(socket, 'close')
  stop()
  expect(parsed).toBe(1)
  expect(text().toLowerCase()).toContain('connection: close')
  expect(text().endsWith('\r\n\r\nrefused')).toBe(true)
})

it('an upgrade that is pipelined after the last response of a connection does not prevent that response', async () => {
  let finish = (): void => {}
  const { socket, text, stop } = await connectTo((req, res) => {
    if (req.url === '/first') finish = () => res.end('first')
    else {
      closeAfterResponse({ req, res })
      res.end('refused')
      setTimeout(finish, 50)
    }
  })
  const upgrade = 'GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'
  socket.write(`GET /first HTTP/1.1\r\nhost: x\r\n\r\nGET / HTTP/1.1\r\nhost: x\r\n\r\n${upgrade}`)
  await once(socket, 'close')
  stop()
  expect(text()).toMatch(/first.*refused$/s)
})

it('a body that arrived with a refused head is not parsed, and the refusal is sent', async () => {
  let pieces = 0
  const { socket, text, stop } = await connectTo((req, res) => {
    req.on('data', () => {
      pieces += 1
    })
    closeAfterResponse({ req, res })
    setImmediate(() => res.end('refused'))
  })
  const head = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n'
  socket.write(`${head}${'1\r\n \r\n'.repeat(200_000)}`)
  await expect.poll(text).toMatch(/\r\n\r\n.*refused/s)
  socket.destroy()
  stop()
  expect(pieces).toBe(0)
})
