import { connect } from 'node:net'
import { expect, it, vi } from 'vitest'
import { expensiveWorkQueue } from '../../src/ops/turns.js'
import { randomAddress, useApi } from './support.js'

let answers = 0
const requests = {
  observe(): void {
    answers += 1
  },
}
const world = useApi({ metrics: { requests } })
const WAIT = { timeout: 10_000, interval: 20 }

it('work whose caller has disconnected is dropped at its turn', async () => {
  let go = () => {}
  const held = new Promise<void>((resolve) => {
    go = resolve
  })
  for (let i = 0; i < 3; i++) void expensiveWorkQueue.run('busy', () => held)
  const before = answers
  const body = JSON.stringify(Array.from({ length: 20 }, randomAddress))
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1')
  socket.write(
    `POST /v1/wallets HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  await vi.waitFor(() => expect(expensiveWorkQueue.size).toBe(1), WAIT)
  socket.destroy()
  // the server notices before it answers this
  expect((await world.get('/v1/networks')).status).toBe(200)
  go()
  await vi.waitFor(() => expect(expensiveWorkQueue.size).toBe(0), WAIT)
  expect((await world.get('/v1/events')).status).toBe(200)
  expect(answers).toBe(before + 2)
})
