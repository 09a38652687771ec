import { connect } from 'node:net'
import { expect, it, vi } from 'vitest'
import { FairQueue } from '../../src/ops/fairQueue.js'
import { randomAddress, useApi } from './support.js'

/** Work that waits in a queue is dropped when its caller disconnects. */

let answers = 0
const requests = {
  observe(): void {
    answers += 1
  },
}
const world = useApi({ metrics: { requests } })
const WAIT = { timeout: 10_000, interval: 20 }
const body = (value: unknown): string => {
  const text = JSON.stringify(value)
  return `content-length: ${text.length}\r\n\r\n${text}`
}

it.each([
  ['a join', 'POST /v1/wallets', Array.from({ length: 20 }, randomAddress)],
  [
    'a question to a chain',
    'POST /v1/names/register/evm',
    { network: '1', sender: randomAddress(), names: [{ name: 'never-asked' }] },
  ],
])('%s', async (_what, request, sent) => {
  const { run } = FairQueue.prototype
  const queued = new Set<FairQueue>()
  let ended = 0
  let go = () => {}
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  const work = vi.fn()
  // occupy all places of the queue
  vi.spyOn(FairQueue.prototype, 'run').mockImplementation(async function (
    this: FairQueue,
    asker,
    _work,
  ) {
    if (!queued.has(this)) {
      queued.add(this)
      for (let i = 0; i < 32; i++) void run.call(this, { address: 'busy' }, () => gate)
    }
    return run.call(this, asker, work).finally(() => {
      ended += 1
    })
  })
  const before = answers
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1')
  socket.write(`${request} HTTP/1.1\r\nhost: x\r\n${body(sent)}`)
  await vi.waitFor(() => expect([...queued].some(({ size }) => size > 0)).toBe(true), WAIT)
  socket.destroy()
  await vi.waitFor(() => expect(ended).toBeGreaterThan(0), WAIT)
  go()
  await new Promise((resolve) => setTimeout(resolve, 100))
  vi.restoreAllMocks()
  expect(work).not.toHaveBeenCalled()
  expect(answers).toBe(before)
})
