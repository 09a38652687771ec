import { connect } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Front, startFront } from '../../src/testing/wallet/front.js'
import { memberOf } from './members.js'
import { type ApiWorld, startApi } from './support.js'

/** The local world serves its API through a front: what asks there is answered as the daemon itself would. */

let world: ApiWorld
let front: Front
beforeAll(async () => {
  world = await startApi()
  front = await startFront({ target: world.url, port: 0, world: { accounts: { evm: [], solana: [] }, networks: {} } })
})
afterAll(async () => {
  await front?.stop()
  await world?.stop()
})

/** Sends bytes as they are. */
const send = (port: number, text: string) =>
  new Promise<{ status: number; body: unknown }>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.on('data', (part) => {
      answer += part.toString()
    })
    socket.on('error', reject)
    socket.on('close', () => {
      const [head = '', body = ''] = answer.split('\r\n\r\n')
      resolve({ status: Number(head.split(' ')[1]), body: body.startsWith('{') ? JSON.parse(body) : body })
    })
  })
const daemonPort = () => Number(new URL(world.url).port)

it.each([
  ['a path of 20,000 characters', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`, 431],
  ['bytes that are no HTTP', 'GET /v0.1/cluster/\u00e9 HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 400],
  ['no Host', 'GET /v1/events HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
  ['an expectation', 'GET / HTTP/1.1\r\nhost: x\r\nexpect: magic\r\nconnection: close\r\n\r\n', 417],
])('%s: JSON, as from the daemon', async (_, text, status) => {
  const envelope = { status, body: { status, error: 'invalid_request' } }
  expect(await send(daemonPort(), text)).toMatchObject(envelope)
  expect(await send(front.port, text)).toMatchObject(envelope)
})

it('two different keys in two Authorization headers: 400, as from the daemon', async () => {
  const { headers } = await memberOf(world)
  const text = `GET /v1/auth/validate HTTP/1.1\r\nhost: x\r\nauthorization: ${headers.authorization}\r\nauthorization: Bearer x\r\nconnection: close\r\n\r\n`
  expect(await send(daemonPort(), text)).toMatchObject({ status: 400 })
  expect(await send(front.port, text)).toMatchObject({ status: 400 })
})
