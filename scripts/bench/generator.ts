/**
 * Sends requests at a fixed rate from a separate process, whether or not earlier requests were answered (an open loop).
 * Latency counts from the time at which a request was due, so a service that stalls for a second is slow for all
 * requests that were due meanwhile.
 *
 *   node generator.js <file of a GeneratorJob>     prints a Load as JSON
 */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { latencyOf } from './bench.js'
import type { Load } from './gate.js'

/** A request: GET, or POST where there is a body. */
export interface LoadRequest {
  path: string
  body?: string
}

export interface GeneratorJob {
  url: string
  /** Requests a second. */
  rate: number
  /** Time for which requests are sent and counted, seconds. */
  seconds: number
  /** Requests to send, in turn. */
  requests: LoadRequest[]
  /** API key that is sent with each request. */
  apiKey: string
  /** Time before, for which the latencies of requests do not count but their failures do, seconds. */
  warmUpSeconds?: number
}

/** Number of kept-alive connections. With more, queueing in the service is not visible. */
const CONNECTIONS = 64
/** Time after which a request counts as failed; also the longest wait for answers at the end of a run. */
const TIMEOUT_MS = 10_000

async function send({
  url,
  rate,
  seconds,
  requests,
  apiKey,
  warmUpSeconds = 0,
}: GeneratorJob): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const times: number[] = []
  let failed = 0
  let failure: string | null = null
  const fail = (why: string): void => {
    failed += 1
    failure ??= why
  }

  const askOne = ({ path, body }: LoadRequest, dueMs: number): Promise<void> =>
    new Promise((resolve) => {
      const headers = {
        'x-api-key': apiKey,
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        }),
      }
      const method = body === undefined ? 'GET' : 'POST'
      const asked = request(url + path, { method, agent, headers, timeout: TIMEOUT_MS })
      asked.on('response', (response) => {
        response.resume()
        response.on('end', () => {
          if (dueMs >= countedMs) times.push(performance.now() - dueMs)
          if (response.statusCode !== 200) fail(`${path}: HTTP ${response.statusCode}`)
          resolve()
        })
      })
      asked.on('timeout', () => asked.destroy(new Error(`no answer in ${TIMEOUT_MS} ms`)))
      asked.on('error', (error) => {
        fail(`${path}: ${error.message}`)
        resolve()
      })
      asked.end(body)
    })

  const startMs = performance.now()
  const countedMs = startMs + warmUpSeconds * 1_000
  const count = Math.round(rate * (warmUpSeconds + seconds))
  const open: Promise<void>[] = []
  while (open.length < count) {
    const dueCount = Math.floor(((performance.now() - startMs) * rate) / 1_000)
    while (open.length < Math.min(count, dueCount)) {
      const dueMs = startMs + (open.length * 1_000) / rate
      open.push(askOne(requests[open.length % requests.length]!, dueMs))
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(open)
  agent.destroy()
  const { p50, p95, p99 } = latencyOf(times)
  return { sent: count, failed, failure, p50, p95, p99 }
}

console.log(JSON.stringify(await send(JSON.parse(readFileSync(process.argv[2]!, 'utf8')))))
