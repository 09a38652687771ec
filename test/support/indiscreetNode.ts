import { bodyOf, serve } from './httpServer.js'

/** Faults of a node that repeats the request and its own URL in its answer. */
export const INDISCRETIONS = [
  'server_error',
  'rate_limit',
  'rpc_error',
  'garbage',
  'truncated',
  'hang',
] as const
type Indiscretion = (typeof INDISCRETIONS)[number]

export interface IndiscreetNode {
  /** Its URL has the key in its path and its query. */
  rpcUrl: string
  /** Null: it answers as the node behind it. */
  be(fault: Indiscretion | null): void
  /** Requests that met a fault. */
  count(): number
  stop(): Promise<void>
}

/** Starts a JSON-RPC proxy whose faults repeat everything that it received. */
export async function startIndiscreetNode(target: string, key: string): Promise<IndiscreetNode> {
  let fault: Indiscretion | null = null
  let count = 0
  const { url, drop, stop } = await serve(async (request, response) => {
    const body = await bodyOf(request)
    if (fault === null) {
      const answer = await fetch(target, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json' },
      })
      response.writeHead(answer.status).end(await answer.text())
      return
    }
    count += 1
    const secrets = `${rpcUrl}, key ${key}, was asked ${body} by ${request.headers.authorization}`
    const error = { code: -32_000, message: `no: ${secrets}`, data: secrets }
    const { id = null } = JSON.parse(body) as { id?: number }
    if (fault === 'server_error') response.writeHead(500, secrets.slice(0, 20)).end(secrets)
    else if (fault === 'rate_limit') response.writeHead(429).end(JSON.stringify({ error }))
    else if (fault === 'rpc_error') response.end(JSON.stringify({ id, error }))
    else if (fault === 'garbage') response.end(secrets)
    else if (fault === 'truncated')
      response.end(JSON.stringify({ id, result: secrets }).slice(0, -9))
  })
  const rpcUrl = `${url}/v3/${key}?apikey=${key}`
  return {
    rpcUrl,
    be(next) {
      fault = next
      drop()
    },
    count: () => count,
    stop,
  }
}
