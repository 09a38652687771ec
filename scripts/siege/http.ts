import http from 'node:http'
import type { Duplex } from 'node:stream'

export interface Call {
  method?: string
  path: string
  body?: unknown
  headers?: Record<string, string>
  /** Local address of a connection for this request only. Default: the client's address and its kept connections. */
  localAddress?: string
}

interface Reply {
  status: number
  body: string
  ms: number
}

const PATIENCE_MS = 15_000
/** Idle time after which a connection is closed, ms: before the daemon closes it while a request is on its way. */
const IDLE_MS = 30_000

/** HTTP client of one visitor or attacker, by Node's http: fetch can't choose the local address. */
export interface Client {
  /** @throws Error where the connection ends without an answer */
  ask(call: Call): Promise<Reply>
  close(): void
}

/** @param localAddress address from which to send, in this machine's loopback network (on Linux all of 127.0.0.0/8) */
export function createClient(api: string, localAddress: string, sockets: number): Client {
  const { hostname, port } = new URL(api)
  const agent = new http.Agent({
    keepAlive: true,
    maxSockets: sockets,
    localAddress,
    timeout: IDLE_MS,
  })
  const opened = new WeakSet<Duplex>()
  const ask = ({ method = 'GET', path, body, headers, localAddress: own }: Call) =>
    new Promise<Reply>((resolve, reject) => {
      const startedMs = performance.now()
      const encoded = body === undefined ? undefined : JSON.stringify(body)
      const payload = typeof body === 'string' ? body : encoded
      const json = payload === undefined ? {} : { 'content-type': 'application/json' }
      const options = {
        hostname,
        port,
        agent: own === undefined ? agent : false,
        localAddress: own ?? localAddress,
        method,
        path,
        headers: { ...json, ...headers },
      }
      const request = http.request(options, (res) => {
        const chunks: Buffer[] = []
        res.on('data', (chunk: Buffer) => chunks.push(chunk))
        res.on('error', reject)
        res.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({ status: res.statusCode ?? 0, body: text, ms: performance.now() - startedMs })
        })
      })
      // no timeout signal: the signal of a failed request stays in memory until its time is over
      const late = setTimeout(() => request.destroy(new Error('no answer in time')), PATIENCE_MS)
      request.on('error', reject)
      // a server that refuses a body early may close while the rest is written: Node reports this only on the socket
      request.once('socket', (socket) => {
        if (!opened.has(socket)) socket.on('error', () => {})
        opened.add(socket)
      })
      request.on('close', () => clearTimeout(late))
      request.end(payload)
    })
  return { ask, close: () => agent.destroy() }
}

/** Signs a wallet in. @returns the header with its authentication key, for later requests */
export async function signInBy(
  { ask }: Client,
  wallet: { address: string; sign(message: string): Promise<string> },
): Promise<{ authorization: string }> {
  const { message, signingDate } = JSON.parse((await ask({ path: '/v1/auth/message' })).body)
  const proof = {
    signature: await wallet.sign(message),
    signingDate,
    type: 'evm',
    wallet: wallet.address,
  }
  const { status, body } = await ask({ method: 'POST', path: '/v1/auth/token', body: proof })
  if (status !== 200) throw new Error(`signing in: ${status} ${body}`)
  return { authorization: `Bearer ${JSON.parse(body).token}` }
}
