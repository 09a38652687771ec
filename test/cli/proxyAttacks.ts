import http from 'node:http'
import net from 'node:net'

const KEPT_CHARS = 4_096

/** A connection of an attacker, with what arrived on it. */
interface Attack {
  socket: net.Socket
  /** Statuses of all responses. */
  statuses: string[]
  /** The last characters of them. */
  text: string
  isClosed: boolean
}

/** Opens a connection from a local address, and sends bytes on it. */
export function attackFrom(localAddress: string, port: number, bytes: string): Attack {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress })
  const attack: Attack = { socket, statuses: [], text: '', isClosed: false }
  socket.on('connect', () => socket.write(bytes))
  socket.on('data', (data) => {
    const text = data.toString('latin1')
    for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) attack.statuses.push(status!)
    attack.text = (attack.text + text).slice(-KEPT_CHARS)
  })
  socket.on('error', () => {})
  socket.on('close', () => {
    attack.isClosed = true
  })
  return attack
}

/** What a proxy forwarded to the API under one path. */
export interface Forwarded {
  /** Requests so far. */
  count: number
  /** Requests without a complete response: now, and at most at any time. */
  now: number
  most: number
  /** Parts in which bodies arrived, as the API reads them. */
  parts: number
  /** Value of `X-Forwarded-For` of the last request. */
  from: string | undefined
}

/** Path whose requests the pipe never answers, so that they stay open. */
export const HELD_PATH = '/held'

/** Path whose requests the pipe answers itself, as often as they arrive. */
export const UNLIMITED_PATH = '/unlimited'

/**
 * Starts a pipe to the API, which counts forwarded requests by path with query.
 * @param apiPort port of the API on this machine
 */
export async function startPipe(apiPort: number) {
  const forwarded = new Map<string, Forwarded>()
  const countsOf = (path: string): Forwarded => {
    const counts = forwarded.get(path) ?? { count: 0, now: 0, most: 0, parts: 0, from: undefined }
    forwarded.set(path, counts)
    return counts
  }
  const server = http.createServer((req, res) => {
    const { method, url: path = '', headers } = req
    const counts = countsOf(path)
    counts.count += 1
    counts.now += 1
    counts.most = Math.max(counts.most, counts.now)
    counts.from = String(headers['x-forwarded-for'])
    res.once('close', () => {
      counts.now -= 1
    })
    req.on('data', () => {
      counts.parts += 1
    })
    if (path === HELD_PATH) return
    if (path === UNLIMITED_PATH) return void res.end()
    const options = { port: apiPort, host: '127.0.0.1', method, path, headers }
    const passed = http.request(options, (answer) => {
      res.writeHead(answer.statusCode!, answer.rawHeaders)
      answer.on('error', () => res.destroy())
      answer.pipe(res)
    })
    // a server that refuses a request may close before it has read the body
    passed.on('error', () => res.headersSent || res.destroy())
    res.once('close', () => passed.destroy())
    req.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as net.AddressInfo).port,
    /** Counts of a path; zeros if no request arrived. */
    countsOf,
    async stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
