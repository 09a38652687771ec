import { EventEmitter, once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { protectServer, SERVER_LIMITS } from './socketLimits.js'
import { createPipelineBound, MAX_UNDER_WAY } from './underWay.js'

it('a server that closes waits for requests under way, and for no connection that has asked for nothing', async () => {
  let begun = (_res: ServerResponse): void => {}
  const asked = new Promise<ServerResponse>((resolve) => {
    begun = resolve
  })
  const server = createServer(SERVER_LIMITS, (_req, res) => begun(res))
  const closeUnused = protectServer(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const unused = connect(port, '127.0.0.1').resume()
  await once(unused, 'connect')
  const answer = fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })
  const res = await asked
  let [isClosed, isUnusedClosed] = [false, false]
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

it('behind a request that is dropped none is served, though there is room again: its answer would be taken for that', () => {
  const isServed = createPipelineBound()
  const socket = { pause() {} } as Socket
  const answers = Array.from({ length: MAX_UNDER_WAY + 2 }, () =>
    Object.assign(new EventEmitter(), { closed: false }),
  ) as unknown as ServerResponse[]
  const isAccepted = answers.slice(0, -1).map((res) => isServed(socket, res))
  expect(isAccepted).toEqual([...Array(MAX_UNDER_WAY).fill(true), false])
  Object.assign(answers[0]!, { closed: true })
  expect(isServed(socket, answers.at(-1)!)).toBe(false)
})
