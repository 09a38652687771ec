import net from 'node:net'

/** Misbehaving connections, kept up for the whole siege: each is opened again when the server ends it. */
export interface SocketFlood {
  name: string
  connections: number
  /** Text that is sent when the connection opens. */
  opening: string
  /** Text that is sent each second, if set. */
  drip?: string
  /** Whether the attacker reads answers. */
  reads: boolean
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`

export const SOCKET_FLOODS: readonly SocketFlood[] = [
  {
    name: 'unread documents',
    connections: 8,
    opening: get('/openapi.json').repeat(1_000),
    reads: false,
  },
  {
    name: 'unread pages',
    connections: 4,
    opening: get('/v0.1/events?limit=5000').repeat(50),
    reads: false,
  },
  {
    name: 'pipelined look-ups',
    connections: 50,
    opening: get('/v1/networks').repeat(500),
    reads: true,
  },
  {
    name: 'pipelined preflights',
    connections: 50,
    opening: 'OPTIONS /v1/names HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(500),
    reads: true,
  },
  {
    name: 'joins in small parts',
    connections: 20,
    opening: `POST /v1/wallets HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(200_000)}`,
    reads: true,
  },
  {
    name: 'joins in parts of 32 bytes',
    connections: 20,
    opening: `POST /v1/wallets HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${`20\r\n${' '.repeat(32)}\r\n`.repeat(30_000)}`,
    reads: true,
  },
  {
    name: 'heads of joins',
    connections: 20,
    opening: 'POST /v1/wallets HTTP/1.1\r\nHost: x\r\nContent-Length: 8000000\r\n\r\n',
    reads: true,
  },
  { name: 'idle sockets', connections: 200, opening: '', reads: true },
  {
    name: 'slow headers',
    connections: 20,
    opening: 'GET / HTTP/1.1\r\nHost: x\r\n',
    drip: 'a: b\r\n',
    reads: true,
  },
  {
    name: 'slow bodies',
    connections: 20,
    drip: ' ',
    reads: true,
    opening:
      'POST /v1/names HTTP/1.1\r\nHost: x\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n[',
  },
  {
    name: 'endless bodies',
    connections: 2,
    drip: 'x'.repeat(1_000_000),
    reads: true,
    opening:
      'POST /v1/names HTTP/1.1\r\nHost: x\r\ncontent-type: application/json\r\ncontent-length: 9000000\r\n\r\n',
  },
]

const DRIP_MS = 1_000
const REOPEN_MS = 500

/** Opens a flood's connections until the signal. @returns function that counts all connections opened so far */
export function besiege(
  api: string,
  localAddress: string,
  flood: SocketFlood,
  signal: AbortSignal,
): () => number {
  const { hostname: host, port } = new URL(api)
  let opened = 0
  const open = (): void => {
    if (signal.aborted) return
    const socket = net.connect({ host, port: Number(port), localAddress }, () => {
      opened += 1
      socket.write(flood.opening)
    })
    const drip = setInterval(
      () => flood.drip && socket.writable && socket.write(flood.drip),
      DRIP_MS,
    )
    const end = () => socket.destroy()
    signal.addEventListener('abort', end, { once: true })
    if (flood.reads) socket.resume()
    else socket.pause()
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(drip)
      signal.removeEventListener('abort', end)
      setTimeout(open, REOPEN_MS).unref()
    })
  }
  for (let i = 0; i < flood.connections; i++) open()
  return () => opened
}
