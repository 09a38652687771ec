import autocannon from 'autocannon'
import pg from 'pg'
import { cpuMs, serverCpuMs } from '../bench/bench.js'
import type { Served } from './measure.js'
import { lookUps } from './questions.js'

/** Look-ups of addresses from many connections at once: what the simulation is fed with, and compared with. */

const SECONDS = 8
const WARM_UP_S = 3

export interface Loaded {
  connections: number
  perS: number
  p50: number
  p99: number
  /** Processor time of the API, of PostgreSQL and of the client for a request, µs. */
  api: number
  server: number
  client: number
}

/** Drives a process of the API. @throws Error where an answer is none */
export async function drive(served: Served, connections: number, offset: number): Promise<Loaded> {
  const { registry, api, daemon } = served
  const [question] = lookUps(registry)
  let asked = offset
  // others each time: the daemon keeps what is asked for again
  const setupRequest = (request: autocannon.Request) => ({ ...request, path: question!.request(asked++).url })
  const client = new pg.Client({ connectionString: registry.databaseUrl })
  await client.connect()
  client.on('error', () => {})
  const options = { url: api, requests: [{ setupRequest }], connections }
  await autocannon({ ...options, duration: WARM_UP_S })
  const before = [cpuMs([daemon.child.pid]), await serverCpuMs(client), cpuMs([process.pid])]
  const result = await autocannon({ ...options, duration: SECONDS })
  const after = [cpuMs([daemon.child.pid]), await serverCpuMs(client), cpuMs([process.pid])]
  await client.end()
  if (result.non2xx > 0 || result.errors > 0) {
    const of = JSON.stringify({ statuses: result.statusCodeStats, errors: result.errors, timeouts: result.timeouts })
    throw new Error(`driving ${api}: ${of}`)
  }
  const { total } = result.requests
  const [ofApi, ofServer, ofClient] = after.map((ms, i) => ((ms - before[i]!) * 1_000) / total)
  return {
    ...{ connections, perS: total / result.duration, p50: result.latency.p50, p99: result.latency.p99 },
    ...{ api: ofApi!, server: ofServer!, client: ofClient! },
  }
}
