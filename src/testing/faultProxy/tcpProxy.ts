import net, { type AddressInfo, type Socket } from 'node:net'

const HOST = '127.0.0.1'

/** A TCP proxy whose connections fall silent without an end, as behind a failover, a firewall or a lost host. */
export interface TcpProxy {
  readonly port: number
  /** Ports on the server's side of the live connections. */
  upstreamPorts(): ReadonlySet<number>
  /** Silences every connection, new ones too: open, acknowledged by the kernel, without a byte. `restore` goes on. */
  hold(): void
  /** Silences the present connections for good; new ones work. */
  forget(): void
  /** Resets every connection, and every new one until `restore`. */
  cut(): void
  /** Lets held connections go on where they stopped; connections that were forgotten are reset. */
  restore(): void
  stop(): Promise<void>
}

/** Starts a TCP proxy of a port on loopback. */
export async function startTcpProxy(target: { port: number }): Promise<TcpProxy> {
  let state: 'open' | 'held' | 'cut' = 'open'
  const pairs = new Set<Pair>()
  const server = net.createServer((client) => {
    if (state === 'cut') {
      client.resetAndDestroy()
      return
    }
    const pair = joinSockets(client, net.connect(target.port, HOST), () => pairs.delete(pair))
    pairs.add(pair)
    if (state === 'held') pair.pause()
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, HOST, resolve)
  })
  const each = (act: (pair: Pair) => void) => {
    for (const pair of pairs) act(pair)
  }
  return {
    port: (server.address() as AddressInfo).port,
    upstreamPorts: () => new Set([...pairs].flatMap(({ upstreamPort }) => upstreamPort() ?? [])),
    hold() {
      state = 'held'
      each((pair) => pair.pause())
    },
    forget() {
      each((pair) => pair.forget())
    },
    cut() {
      state = 'cut'
      each((pair) => pair.reset())
    },
    restore() {
      state = 'open'
      each((pair) => (pair.isForgotten() ? pair.reset() : pair.resume()))
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      each((pair) => pair.reset())
      await closed
    },
  }
}

interface Pair {
  upstreamPort(): number | undefined
  pause(): void
  resume(): void
  forget(): void
  isForgotten(): boolean
  reset(): void
}

function joinSockets(client: Socket, upstream: Socket, onEnd: () => void): Pair {
  let isForgotten = false
  const both = [client, upstream]
  const each = (act: (socket: Socket) => void) => {
    for (const socket of both) act(socket)
  }
  const reset = () => {
    each((socket) => socket.resetAndDestroy())
    onEnd()
  }
  // pipe() would take a pause of its own source back when the other side drains
  relay(client, upstream)
  relay(upstream, client)
  each((socket) => {
    socket.setNoDelay(true)
    socket.on('error', reset)
    socket.on('close', reset)
  })
  const pause = () => each((socket) => socket.pause())
  return {
    upstreamPort: () => upstream.localPort,
    pause,
    resume: () => each((socket) => socket.resume()),
    forget() {
      isForgotten = true
      pause()
    },
    isForgotten: () => isForgotten,
    reset,
  }
}

/** Passes on what a socket says; backpressure is left to the memory, since a local world's answers are small. */
function relay(from: Socket, to: Socket): void {
  from.on('data', (bytes) => to.write(bytes))
  from.on('end', () => to.end())
}
