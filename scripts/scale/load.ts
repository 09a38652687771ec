import { performance } from 'node:perf_hooks'
import autocannon from 'autocannon'
import pg from 'pg'
import { createPool } from '../../src/db/pg/pool.js'
import { findByAddresses } from '../../src/db/registry/lookups.js'
import { cpuMs, serverCpuMs } from '../bench/bench.js'
import type { Served } from './measure.js'
import { walletOf } from './population.js'
import { clusterOf, lookUps } from './questions.js'
import type { Registry } from './registries.js'
import type { Times } from './simulate.js'

/** Look-ups of addresses from many connections at once: what the simulation is fed with, and compared with. */

const SECONDS = 8
const WARM_UP_S = 3
const KEYS = [1, 16, 64]
const STATEMENTS_MS = 2_500

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

/** Processor time of a statement in PostgreSQL, ms: what it costs at all, and for each key, by least squares. */
async function statementOf({ databaseUrl, ...registry }: Registry): Promise<Pick<Times, 'query' | 'key'>> {
  const pool = createPool({ url: databaseUrl, max: 1, applicationName: 'scale', isByIndex: true })
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const points: [number, number][] = []
  let asked = 400_000
  for (const keys of KEYS) {
    const untilMs = performance.now() + STATEMENTS_MS
    const before = await serverCpuMs(client)
    let statements = 0
    for (; performance.now() < untilMs; statements++) {
      const wallets = Array.from({ length: keys }, () => walletOf(clusterOf(registry, asked++)))
      await findByAddresses(pool, 'mainnet', wallets)
    }
    points.push([keys, ((await serverCpuMs(client)) - before) / statements])
  }
  await client.end()
  await pool.end()
  const mean = (of: 0 | 1) => points.reduce((sum, point) => sum + point[of], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const slope =
    points.reduce((sum, [keys, ms]) => sum + (keys - x) * (ms - y), 0) /
    points.reduce((sum, [keys]) => sum + (keys - x) ** 2, 0)
  return { key: slope, query: Math.max(0.001, y - slope * x) }
}

/**
 * Times of the model. A request alone pays for a whole statement; of many at once the statement's share is small, as the
 * processor time of both shows.
 */
export async function timesOf(registry: Registry, alone: Loaded, many: Loaded): Promise<Times> {
  const { key, query } = await statementOf(registry)
  const ms = (us: number) => us / 1_000
  // keys a statement under load, by PostgreSQL's time for each
  const together = Math.min(64, Math.max(2, query / Math.max(ms(many.server) - key, 0.001)))
  const statement = Math.max(0, (ms(alone.api) - ms(many.api)) / (1 - 1 / together))
  return { key, query, statement, request: Math.max(0.001, ms(alone.api) - statement), client: ms(many.client) }
}
