import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClusterdProcess } from './clusterdProcess.js'
import { serve } from './httpServer.js'

const LOOK_MS = 50

/**
 * A balancer before processes of the API, as examples/deploy/topology/haproxy.cfg has one: who is not ready is sent
 * nothing, what reached no process goes to another, and nothing is sent twice.
 */
export async function startBalancer(processes: () => readonly ClusterdProcess[]) {
  const ready = new Set<string>()
  const stop = new AbortController()
  let turn = 0
  const look = async () => {
    while (!stop.signal.aborted) {
      await Promise.all(
        processes().map(async (one) =>
          (await one.isReady()) ? ready.add(one.api) : ready.delete(one.api),
        ),
      )
      await sleep(LOOK_MS)
    }
  }
  const looking = look()
  const answer = (
    req: http.IncomingMessage,
    res: http.ServerResponse,
    body: Buffer,
    left: string[],
  ): void => {
    const api = left[0]
    if (!api) return void res.writeHead(503).end('no process is ready')
    let isSent = false
    const { method, url, headers } = req
    const request = http.request(`${api}${url}`, { method, headers, agent: false }, (from) => {
      res.writeHead(from.statusCode!, from.headers)
      from.pipe(res)
      from.on('error', () => res.destroy())
      from.on('aborted', () => res.destroy())
    })
    request.on('socket', (socket) => socket.once('connect', () => (isSent = true)))
    request.on('error', (error) => {
      if (!isSent) answer(req, res, body, left.slice(1))
      else if (res.headersSent) res.destroy()
      else res.writeHead(502).end(error.message)
    })
    res.on('close', () => request.destroy())
    request.end(body)
  }
  const listener: http.RequestListener = (req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const all = [...ready]
      turn++
      answer(req, res, Buffer.concat(chunks), [
        ...all.slice(turn % (all.length || 1)),
        ...all.slice(0, turn % (all.length || 1)),
      ])
    })
  }
  // a connection that it closed while the next request is on its way would look like a process that lost one
  const server = await serve(listener, { keepAliveTimeout: 0 })
  return {
    api: server.url,
    async stop() {
      stop.abort()
      await looking
      await server.stop()
    },
  }
}
