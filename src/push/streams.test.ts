import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import { MAX_STREAM_MS, STREAM_DRAIN_TIMEOUT_MS, sendHeartbeats, waitForDrain } from './streams.js'

afterEach(() => void vi.useRealTimers())

/** A response whose client reads nothing until the test says so. */
async function unread() {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.pause()
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  const [, res] = (await once(server, 'request')) as [unknown, ServerResponse]
  // more than the system buffers for a socket
  const text = 'x'.repeat(2 ** 25)
  const stop = () => {
    socket.destroy()
    server.close()
  }
  return { res, socket, fill: () => res.write(text), stop }
}

it('waits for a slow reader, and closes the stream at the time limit', async () => {
  const { res, fill, stop } = await unread()
  expect(await waitForDrain(res)).toBe(true)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  fill()
  const read = waitForDrain(res)
  vi.advanceTimersByTime(STREAM_DRAIN_TIMEOUT_MS - 1)
  expect(res.destroyed).toBe(false)
  vi.advanceTimersByTime(1)
  expect(await read).toBe(false)
  expect(await waitForDrain(res)).toBe(false)
  stop()
})

it('continues once everything was read', async () => {
  const { res, socket, fill, stop } = await unread()
  fill()
  const read = waitForDrain(res)
  socket.resume()
  expect(await read).toBe(true)
  stop()
})

it('sends heartbeats to a stream, and ends it after a time', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] })
  const { res, socket, stop } = await unread()
  let text = ''
  socket.on('data', (bytes) => {
    text += bytes
  })
  socket.resume()
  const ended = new AbortController()
  sendHeartbeats(res, ended)
  const beats = () => text.split(':\n\n').length - 1
  for (let sent = 1; sent <= 3; sent++) {
    vi.advanceTimersByTime(15_000)
    await expect.poll(beats).toBe(sent)
  }
  vi.advanceTimersByTime(0.8 * MAX_STREAM_MS - 45_001)
  expect(ended.signal.aborted).toBe(false)
  vi.advanceTimersByTime(0.2 * MAX_STREAM_MS + 1)
  expect(ended.signal.aborted).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
  sendHeartbeats(res, ended)
  // a stream that ended before its first byte needs none
  expect(vi.getTimerCount()).toBe(0)
  stop()
})
