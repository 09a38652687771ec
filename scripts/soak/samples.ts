import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { withConnection } from '../../src/db/pg/pool.js'
import { JOB_STATE } from '../../src/registry/outbox.js'
import { cpuMs } from '../bench/bench.js'
import type { Reading } from './course.js'

const MIB = 2 ** 20
const TIMEOUT_MS = 5_000

/** Time between two readings of the memory metrics. */
export const PEEK_MS = 2_500
/** Number of readings (of five minutes) of which the least value counts. */
const PEEKS = 120

/** Memory metrics whose least value counts: they rise between full garbage collections, which may be minutes apart. */
const MEMORY_GAUGES = {
  'heap used': 'nodejs_heap_size_used_bytes',
  external: 'nodejs_external_memory_bytes',
}
const HANDLES_GAUGE = 'nodejs_active_handles_total'

/** Tables to which each registration adds rows (docs/run/retention.md). No other table may grow. */
const GROWING = new Set([
  'clusters',
  'feed_events',
  'hub_credits',
  'jobs',
  'journal',
  'log_tiles',
  'messages',
  'names',
  'ranking',
  'received',
  'tracked_txs',
  'wallets',
])

/** Function that returns the value of a metric by its name; NaN where there is no such metric. */
type ReadGauge = (name: string) => number

interface Sampler {
  /** Reads the memory metrics. To be called every `PEEK_MS`. */
  peek(): Promise<unknown>
  /** Takes a sample. @param registrations number of final registrations so far */
  sample(registrations: number): Promise<Reading[]>
}

/** Samples a daemon by /proc and its metrics, and its database by separate connections. */
export function createSampler(at: { pid: number; ops: string; databaseUrl: string }): Sampler {
  /** The newest values of each memory metric, MiB. */
  const newest = new Map<string, number[]>()
  let usedMs = cpuMs([at.pid])
  let usedAtMs = performance.now()

  const readMetrics = async (): Promise<ReadGauge> => {
    // close the connection: a kept-alive one would count as an open socket of the daemon
    const response = await fetch(`${at.ops}/metrics`, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const text = await response.text()
    return (name) => Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1])
  }

  const peek = async (): Promise<ReadGauge> => {
    const gauge = await readMetrics()
    for (const [name, metric] of Object.entries(MEMORY_GAUGES)) {
      const before = newest.get(name) ?? []
      newest.set(name, [...before, gauge(metric) / MIB].slice(-PEEKS))
    }
    return gauge
  }

  return {
    peek,
    async sample(registrations) {
      const gauge = await peek()
      const memory = [...newest].map(
        ([name, mib]): Reading => ({ name, kind: 'mib', value: Math.min(...mib) }),
      )
      const nowMs = performance.now()
      const nowUsedMs = cpuMs([at.pid])
      const percent = ((nowUsedMs - usedMs) / (nowMs - usedAtMs)) * 100
      usedMs = nowUsedMs
      usedAtMs = nowMs
      return [
        { name: 'resident', kind: 'mib', value: residentMib(at.pid) },
        ...memory,
        ...descriptorsOf(at.pid),
        { name: 'handles', kind: 'count', value: gauge(HANDLES_GAUGE) },
        ...(await readDatabase(at.databaseUrl, registrations)),
        { name: 'daemon %', kind: 'shown', value: percent },
        { name: 'soak', kind: 'shown', value: process.memoryUsage.rss() / MIB },
      ]
    },
  }
}

function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024
}

/** Numbers of open files and of open sockets of a process. */
function descriptorsOf(pid: number): Reading[] {
  const folder = `/proc/${pid}/fd`
  const targets = readdirSync(folder).map((fd) => {
    try {
      return readlinkSync(`${folder}/${fd}`)
    } catch {
      // closed meanwhile
      return ''
    }
  })
  const sockets = targets.filter((target) => target.startsWith('socket:')).length
  return [
    { name: 'files', kind: 'count', value: targets.length },
    { name: 'sockets', kind: 'count', value: sockets },
  ]
}

/** Number of database connections, and rows of each table. Rows of a growing table are divided by registrations. */
async function readDatabase(url: string, registrations: number): Promise<Reading[]> {
  const readings: Reading[] = []
  await withConnection({ url, applicationName: 'test' }, async (client) => {
    const connections = await client.query<{ count: number }>(
      `SELECT count(*)::int4 AS count FROM pg_stat_activity
       WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    )
    readings.push({ name: 'connections', kind: 'count', value: connections.rows[0]!.count })
    const tables = await client.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname`,
    )
    const counts = tables.rows.map(
      ({ name }) => `SELECT '${name}' AS name, count(*)::int4 AS count FROM ${name}`,
    )
    counts.push(
      `SELECT 'live jobs' AS name, count(*)::int4 AS count FROM jobs WHERE state <> ${JOB_STATE.confirmed}`,
    )
    const { rows } = await client.query<{ name: string; count: number }>(counts.join(' UNION ALL '))
    readings.push(...rowsOf(rows, registrations))
  })
  return readings
}

/** Readings of the tables' numbers of rows, and their sums for the printed table of the run. */
function rowsOf(
  tables: readonly { name: string; count: number }[],
  registrations: number,
): Reading[] {
  const readings = tables.map(({ name, count }): Reading => {
    const isGrowing = GROWING.has(name)
    return isGrowing
      ? { name: `rows of ${name} a registration`, kind: 'ratio', value: count / registrations }
      : { name: `rows of ${name}`, kind: 'count', value: count }
  })
  const sumOf = (kind: Reading['kind']) =>
    readings.filter((one) => one.kind === kind).reduce((sum, { value }) => sum + value, 0)
  return [
    ...readings,
    { name: 'bounded rows', kind: 'shown', value: sumOf('count') },
    { name: 'rows a registration', kind: 'shown', value: sumOf('ratio') },
  ]
}
