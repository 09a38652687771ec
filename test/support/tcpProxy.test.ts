import net, { type AddressInfo, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { waitForCondition } from '../../src/testing/processes/processes.js'
import { startTcpProxy, type TcpProxy } from './tcpProxy.js'

const DEADLINE_MS = 5_000
const QUIET_MS = 200

let echo: Server
let proxy: TcpProxy
let clients: Client[]

interface Client {
  socket: Socket
  heard: string
  isClosed: boolean
}

beforeEach(async () => {
  clients = []
  echo = net.createServer((socket) => socket.on('error', () => {}).pipe(socket))
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
  proxy = await startTcpProxy({ port: (echo.address() as AddressInfo).port })
})
afterEach(async () => {
  for (const { socket } of clients) socket.destroy()
  await proxy.stop()
  await new Promise((resolve) => echo.close(resolve))
})

async function connect(): Promise<Client> {
  const client: Client = {
    socket: net.connect(proxy.port, '127.0.0.1'),
    heard: '',
    isClosed: false,
  }
  clients.push(client)
  client.socket.setEncoding('utf8').on('data', (text) => {
    client.heard += text
  })
  client.socket.on('error', () => {})
  client.socket.on('close', () => {
    client.isClosed = true
  })
  await waitForCondition(() => client.isClosed || client.socket.readyState === 'open', DEADLINE_MS)
  return client
}

const hears = (client: Client, text: string, deadlineMs = DEADLINE_MS) =>
  waitForCondition(() => client.heard === text, deadlineMs)
const closes = (client: Client, deadlineMs = DEADLINE_MS) =>
  waitForCondition(() => client.isClosed, deadlineMs)

it('passes bytes in both directions', async () => {
  const client = await connect()
  client.socket.write('one')
  expect(await hears(client, 'one')).toBe(true)
  expect(proxy.upstreamPorts().size).toBe(1)
})

it('held connections, including new ones, are silent and lose nothing', async () => {
  const before = await connect()
  before.socket.write('one')
  await hears(before, 'one')
  proxy.hold()
  const during = await connect()
  for (const { socket } of clients) socket.write('two')
  expect(await hears(before, 'onetwo', QUIET_MS)).toBe(false)
  expect([before.isClosed, during.isClosed, during.heard]).toEqual([false, false, ''])
  proxy.restore()
  expect(await hears(before, 'onetwo')).toBe(true)
  expect(await hears(during, 'two')).toBe(true)
})

it('forgotten connections stay silent, even if the server ends them; new ones work', async () => {
  const old = await connect()
  old.socket.write('one')
  await hears(old, 'one')
  proxy.forget()
  old.socket.write('two')
  const fresh = await connect()
  fresh.socket.write('three')
  expect(await hears(fresh, 'three')).toBe(true)
  expect(await closes(old, QUIET_MS)).toBe(false)
  expect(old.heard).toBe('one')
  proxy.restore()
  expect(await closes(old)).toBe(true)
})

it('a cut resets all, and new ones until it is restored', async () => {
  const old = await connect()
  proxy.cut()
  expect(await closes(old)).toBe(true)
  expect(await closes(await connect())).toBe(true)
  proxy.restore()
  const fresh = await connect()
  fresh.socket.write('one')
  expect(await hears(fresh, 'one')).toBe(true)
})
