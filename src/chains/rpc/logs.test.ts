import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, it, vi } from 'vitest'
import { WebSocketServer } from 'ws'
import { watchLogs } from './logs.js'

it('a socket that answers no ping is replaced: its end may be gone without a word', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false })
  await once(server, 'listening')
  const asked = vi.fn()
  server.on('connection', (socket) => socket.on('message', asked))
  const stop = watchLogs({
    urls: [`ws://127.0.0.1:${(server.address() as AddressInfo).port}`],
    ...{ programId: 'x', commitments: ['confirmed'], onLogs: () => {}, onFault: () => {} },
  })
  await expect.poll(() => asked.mock.calls.length, { timeout: 5_000 }).toBe(1)
  vi.advanceTimersByTime(30_000)
  await expect.poll(() => asked.mock.calls.length, { timeout: 10_000 }).toBe(2)
  stop()
  server.close()
  vi.useRealTimers()
})
