import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { getHeapSpaceStatistics } from 'node:v8'
import { expect, it } from 'vitest'
import { UNLIMITED_METER } from '../limits/meter.js'
import type { HttpExchange } from './exchange.js'
import { CALLER_LEFT_ERROR, WaitingCaller } from './patience.js'

const REQUEST_COUNT = 50_000
/** Number of elements of eight bytes that each request keeps in memory. */
const ELEMENTS_PER_REQUEST = 100
const MAX_GROWTH_MIB = 8

/** Memory that only a full garbage collection frees, MiB. */
const oldSpaceMib = (): number => {
  const old = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')!
  return old.space_used_size / 2 ** 20
}

/** Makes callers without keeping a reference. @returns the largest growth of the old space meanwhile, MiB */
function measureGrowthMib(): number {
  const beforeMib = oldSpaceMib()
  let mostMib = 0
  for (let n = 0; n < REQUEST_COUNT; n++) {
    const exchange = {
      address: '127.0.0.1',
      req: { headers: {}, held: new Array(ELEMENTS_PER_REQUEST).fill(n) },
    }
    const caller = new WaitingCaller(exchange as unknown as HttpExchange, UNLIMITED_METER, () => {})
    if (caller.address !== exchange.address) throw new Error('another address')
    if (n % 1_000 === 0) mostMib = Math.max(mostMib, oldSpaceMib() - beforeMib)
  }
  return mostMib
}

it('keeps nothing of a request in memory that only a full garbage collection frees', () => {
  // the first run moves objects of earlier test files from the young generation to the old space
  measureGrowthMib()
  expect(measureGrowthMib()).toBeLessThan(MAX_GROWTH_MIB)
})

const createRequest = () => ({
  headers: {},
  socket: Object.assign(new EventEmitter(), { destroyed: false }),
})

it('notices a closed connection for each of its pipelined requests', async () => {
  const COUNT = 12
  const warnings: Error[] = []
  process.on('warning', (warning) => warnings.push(warning))
  let left = 0
  const server = createServer((req, res) => {
    const exchange = { address: '127.0.0.1', req, res } as unknown as HttpExchange
    new WaitingCaller(exchange, UNLIMITED_METER, () => {}).whenGone(() => left++)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(COUNT))
  const [request] = await once(server, 'request')
  const closed = once(request.socket, 'close')
  while (request.socket.listenerCount('close') < COUNT) await once(server, 'request')
  client.destroy()
  await closed
  await new Promise(setImmediate)
  server.close()
  expect(left).toBe(COUNT)
  expect(warnings).toEqual([])
})

it('runs everything that waits for the end of a response, and what comes later at once', () => {
  const res = Object.assign(new EventEmitter(), { closed: false })
  const exchange = { address: '127.0.0.1', req: createRequest(), res }
  const caller = new WaitingCaller(exchange as unknown as HttpExchange, UNLIMITED_METER, () => {})
  const ran: number[] = []
  for (const i of [0, 1, 2]) caller.whenGone(() => ran.push(i))
  expect([ran, caller.hasLeft()]).toEqual([[], false])
  res.closed = true
  res.emit('close')
  caller.whenGone(() => ran.push(3))
  expect([ran, caller.hasLeft()]).toEqual([[0, 1, 2, 3], true])
})

it('gives no turn to work of a caller who has left', async () => {
  const res = Object.assign(new EventEmitter(), { closed: false })
  const exchange = { address: '127.0.0.1', req: createRequest(), res }
  const caller = new WaitingCaller(exchange as unknown as HttpExchange, UNLIMITED_METER, () => {})
  await caller.turn()
  res.closed = true
  await expect(caller.turn()).rejects.toBe(CALLER_LEFT_ERROR)
})
