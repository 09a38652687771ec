import { createServer, type Server } from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import { type ConnectionLimits, protectServer } from './socketLimits.js'
import { createUnreadWatch, type UnreadLimits } from './unread.js'

const MIB = 1024 * 1024
/** More than a system buffers for a socket. */
const LARGE = Buffer.alloc(16 * MIB)
const WAIT = { timeout: 20_000, interval: 20 }

let server: Server
let accepted: Socket[] = []
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

/** Serves a large answer at `/`, and a small one elsewhere. */
async function serve({ idleMs = 600_000, ...limits }: Partial<UnreadLimits & ConnectionLimits>): Promise<void> {
  const watch = createUnreadWatch({ readMs: 600_000, totalBytes: 100 * LARGE.length, ...limits })
  server = createServer((req, res) => {
    const body = req.url === '/' ? LARGE : Buffer.from('small')
    res.end(body)
    watch(req.socket, res, body.length)
  })
  protectServer(server, { idleMs })
  accepted = []
  server.on('connection', (socket) => accepted.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
}

/** Asks and reads nothing, or all. */
function ask(path: string, { reads = false } = {}) {
  const { port } = server.address() as AddressInfo
  const socket = net.connect({ host: '127.0.0.1', port }, () => socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`))
  const seen = { bytes: 0 }
  socket.on('error', () => {})
  if (!reads) return { seen, socket: socket.pause() }
  socket.on('data', (chunk) => {
    seen.bytes += chunk.length
  })
  return { seen, socket }
}

const expectEnded = (ended: readonly boolean[]) =>
  vi.waitFor(() => expect(accepted.map(({ destroyed }) => destroyed)).toEqual(ended), WAIT)

it('an answer that is read is not cut off, whatever its size', async () => {
  await serve({ socketBytes: 1 })
  const { seen, socket } = ask('/', { reads: true })
  await vi.waitFor(() => expect(seen.bytes).toBeGreaterThan(LARGE.length), WAIT)
  socket.write('GET /small HTTP/1.1\r\nhost: x\r\n\r\n')
  await vi.waitFor(() => expect(seen.bytes).toBeGreaterThan(LARGE.length + 200), WAIT)
  await expectEnded([false])
})

it('an answer that nobody reads ends its socket after a time', async () => {
  await serve({ readMs: 300 })
  ask('/')
  await expectEnded([true])
})

it('a socket without a byte in either direction ends sooner', async () => {
  await serve({ idleMs: 300 })
  ask('/')
  await expectEnded([true])
})

it('over the bound of all sockets those end that waited longest', async () => {
  await serve({ totalBytes: 2.5 * LARGE.length })
  for (const ended of [[false], [false, false], [true, false, false], [true, true, false, false]]) {
    ask('/')
    await expectEnded(ended)
  }
  const { seen } = ask('/small', { reads: true })
  await vi.waitFor(() => expect(seen.bytes).toBeGreaterThan(0), WAIT)
  await expectEnded([true, true, false, false, false])
})
