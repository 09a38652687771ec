import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'

/** A TCP proxy before a server, for what a network does to connections: it forwards, or says nothing and closes nothing. */
export interface TcpProxy {
  /** The server's URL with the proxy's port. */
  url: string
  /** Connections made so far. */
  readonly made: number
  /** Stops forwarding on the connections that are open now, in both directions, without closing them. */
  silence(): void
  /** Whether connections that are made from now on are forwarded, too; they are unless it is called with false. */
  accept(isForwarding: boolean): void
  stop(): Promise<void>
}

export async function startTcpProxy(serverUrl: string): Promise<TcpProxy> {
  const target = new URL(serverUrl)
  const pairs = new Set<[net.Socket, net.Socket]>()
  let made = 0
  let isForwarding = true
  const mute = ([client, server]: [net.Socket, net.Socket]) => {
    client.unpipe(server)
    server.unpipe(client)
    // both ends go on acknowledging what comes in
    for (const socket of [client, server]) socket.resume()
  }
  const proxy = net.createServer((client) => {
    made += 1
    const server = net.connect(Number(target.port), target.hostname)
    const pair: [net.Socket, net.Socket] = [client, server]
    pairs.add(pair)
    for (const socket of pair) socket.on('error', () => {})
    client.on('close', () => {
      server.destroy()
      pairs.delete(pair)
    })
    if (!isForwarding) return
    client.pipe(server)
    server.pipe(client)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(serverUrl)
  url.port = String((proxy.address() as AddressInfo).port)
  return {
    url: url.href,
    get made() {
      return made
    },
    silence() {
      for (const pair of pairs) mute(pair)
    },
    accept(forwards) {
      isForwarding = forwards
    },
    async stop() {
      const closed = once(proxy, 'close')
      proxy.close()
      for (const pair of pairs) for (const socket of pair) socket.destroy()
      await closed
    },
  }
}
