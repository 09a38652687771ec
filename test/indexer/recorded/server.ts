import type { ServerResponse } from 'node:http'
import { bodyOf, serve } from '../../support/httpServer.js'
import type { TestClock } from './clock.js'
import type { AskedNode, Question, Reply } from './node.js'

/** A JSON-RPC server over HTTP whose answers a test chooses. Each choice has its own URL. */
export async function startServer(requests: { open: number }) {
  let chosen: { path: string; ask: AskedNode; clock: TestClock } | null = null
  let choices = 0
  let count = 0
  const server = await serve(async (request, response) => {
    const { id, method, params } = JSON.parse(await bodyOf(request))
    if (!chosen || request.url !== chosen.path) return response.destroy()
    const { ask, clock } = chosen
    const reply = ask({ method, params, count: count++ } satisfies Question)
    if (reply !== 'hangs') return send(response, id, reply)
    void clock.exceedLimit(
      () => response.closed,
      () => requests.open === 0,
    )
  })

  /** Counts calls whose answer the client has not received yet. */
  function send(response: ServerResponse, id: number, reply: Exclude<Reply, 'hangs'>): void {
    if (reply === 'cuts off') {
      response.destroy()
      return
    }
    requests.open += 1
    response.once('close', () => {
      requests.open -= 1
    })
    const isPage = 'status' in reply
    response.writeHead(isPage ? reply.status : 200, isPage ? reply.headers : undefined)
    response.end(isPage ? reply.body : JSON.stringify({ jsonrpc: '2.0', id, ...reply }))
  }

  return {
    /** @returns the node's URL */
    choose(ask: AskedNode, clock: TestClock): string {
      choices += 1
      count = 0
      chosen = { path: `/${choices}`, ask, clock }
      return `${server.url}/${choices}`
    },
    stop: server.stop,
  }
}
