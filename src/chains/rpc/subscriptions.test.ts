import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { subscribeToNode } from './subscriptions.js'

it.each([true, false])('a connection that answers pings: %s, goes on', async (isAnswering) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, autoPong: isAnswering })
  await once(server, 'listening')
  let ends = 0
  const stop = subscribeToNode({
    urls: [`ws://127.0.0.1:${(server.address() as AddressInfo).port}`],
    requests: [{ method: 'subscribe', params: [] }],
    onNotification: () => {},
    onEnd: () => {
      ends += 1
    },
  })
  onTestFinished(() => {
    stop()
    server.close()
    vi.useRealTimers()
  })
  const [socket] = await once(server, 'connection')
  await once(socket, 'message')
  for (let i = 0; i < 3 && ends === 0; i++) {
    const pinged = once(socket, 'ping')
    vi.advanceTimersByTime(30_000)
    await Promise.race([pinged, once(socket, 'close')])
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  expect(ends).toBe(isAnswering ? 0 : 1)
})
