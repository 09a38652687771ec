import net, { type AddressInfo, type Socket } from 'node:net'

const LOOPBACK_HOST = '127.0.0.1'

/** A TCP proxy whose connections can fall silent without an end, as behind a fail-over, a firewall or a lost host. */
export interface TcpProxy {
  readonly port: number
  /** Local ports of the proxy's live connections to the server. */
  upstreamPorts(): ReadonlySet<number>
  /** Keeps old and new connections open without passing any byte, until `restore` passes the waiting bytes. */
  hold(): void
  /** Silences the present connections until `restore` resets them. New connections work. */
  forget(): void
  /** Resets every connection, and every new connection until `restore`. */
  cut(): void
  /** Continues held connections where they stopped. Resets forgotten connections. */
  restore(): void
  stop(): Promise<void>
}

interface Pair {
  /** Sockets of the client and of the server. */
  sockets: readonly [Socket, Socket]
  isForgotten: boolean
}

/** Starts a TCP proxy, on a free loopback port, for the server on a loopback port. */
export async function startTcpProxy(target: { port: number }): Promise<TcpProxy> {
  let state: 'open' | 'held' | 'cut' = 'open'
  const pairs = new Set<Pair>()
  const reset = (pair: Pair) => {
    pairs.delete(pair)
    for (const socket of pair.sockets) socket.resetAndDestroy()
  }
  const resetAll = () => {
    for (const pair of pairs) reset(pair)
  }
  const pauseAll = () => {
    for (const { sockets } of pairs) for (const socket of sockets) socket.pause()
  }
  const server = net.createServer((client) => {
    if (state === 'cut') return void client.resetAndDestroy()
    const upstream = net.connect(target.port, LOOPBACK_HOST)
    const pair: Pair = { sockets: [client, upstream], isForgotten: false }
    pairs.add(pair)
    // `pipe()` is not used: it would resume a paused socket when the other socket drains
    relay(client, upstream)
    relay(upstream, client)
    for (const socket of pair.sockets) {
      socket.setNoDelay(true)
      socket.on('error', () => reset(pair))
      socket.on('close', () => reset(pair))
      if (state === 'held') socket.pause()
    }
  })
  const port = await listenOnLoopback(server)
  return {
    port,
    upstreamPorts: () =>
      new Set([...pairs].flatMap(({ sockets: [, upstream] }) => upstream.localPort ?? [])),
    hold() {
      state = 'held'
      pauseAll()
    },
    forget() {
      for (const pair of pairs) pair.isForgotten = true
      pauseAll()
    },
    cut() {
      state = 'cut'
      resetAll()
    },
    restore() {
      state = 'open'
      for (const pair of pairs)
        if (pair.isForgotten) reset(pair)
        else for (const socket of pair.sockets) socket.resume()
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      resetAll()
      await closed
    },
  }
}

/** Makes a server listen on a free port. @returns the port */
async function listenOnLoopback(server: net.Server): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, LOOPBACK_HOST, resolve)
  })
  return (server.address() as AddressInfo).port
}

/** Passes a socket's bytes to another socket. Without backpressure, since the answers of local nodes are small. */
function relay(from: Socket, to: Socket): void {
  from.on('data', (bytes) => to.write(bytes))
  from.on('end', () => to.end())
}
