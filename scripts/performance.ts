/**
 * `npm run performance`: how cost grows with the number of names. Indexes chains of several sizes from nothing, asks
 * what they hold, and writes plots and table of docs/performance.md.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { createDatabase, dropDatabase, type Postgres } from '../src/testing/processes/postgres.js'
import { ask, timed } from './bench/ask.js'
import { type Bench, describeMachine, latencyOf, printTable, runBench, thousands } from './bench/bench.js'
import { AT_ONCE, measureBulk } from './bench/bulk.js'
import { type BenchChain, fillChain, walletOf } from './bench/chain.js'
import { writeTable } from './bench/page.js'
import { drawPlot, type Series } from './bench/plot.js'
import {
  type DaemonProcess,
  prepareBench,
  startDaemonProcess,
  waitUntilCaughtUp,
  waitUntilIndexed,
} from './bench/programs.js'
import { benchTokens } from './bench/tokens.js'

const PLOTS = new URL('../docs/performance/', import.meta.url)
const POLL_MS = 20
const PARTS = 10
/** Names from which a tenth of the chain is several batches. */
const ALONG = 40_000
const LOOKUPS = 2_000
const ROUNDS = 100
const CHANGES = 200

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10000,100000,1000000' },
    cli: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const sizes = values.sizes.split(',').map(Number)
if (values.help || sizes.some((size) => !Number.isSafeInteger(size) || size < AT_ONCE)) {
  console.log(`usage: npm run performance -- [options]
  --sizes <n,n,…>  names, from the least to the most (default 10000,100000,1000000; at least ${AT_ONCE} each)
  --cli <file>     another build's command line (.js or .ts) instead of a fresh build`)
  process.exit(values.help ? 0 : 2)
}

/** What a size costs. */
interface Cost {
  names: number
  /** Names a second in each tenth of the chain. */
  speeds: number[]
  /** From the start of the process to the last name. */
  seconds: number
  bytesAName: number
  /** Medians of requests one after another, ms, by what is asked. */
  ms: Map<string, number>
}

async function main(bench: Bench): Promise<void> {
  const { cli, postgres } = await prepareBench(bench, values.cli)
  const costs: Cost[] = []
  for (const size of sizes) costs.push(await measure(bench, cli, postgres, size))
  write(costs, await describeMachine(postgres.url))
}

async function measure(bench: Bench, cli: string, postgres: Postgres, names: number): Promise<Cost> {
  const { home } = bench
  console.log(`\n${thousands(names)} names`)
  const database = `names_${names}`
  const chain = await fillChain(home, names)
  bench.onEnd(() => chain.anvil.stop())
  const databaseUrl = await createDatabase(postgres.url, database)
  const seen = watchJournal(databaseUrl, names)
  const daemon = await startDaemonProcess({ cli, home, chain, databaseUrl })
  bench.onEnd(() => daemon.stop())
  const cost = await measureDaemon(daemon, chain, databaseUrl, seen)
  await daemon.stop()
  await chain.anvil.stop()
  await dropDatabase(postgres.url, database)
  return cost
}

async function measureDaemon(
  daemon: DaemonProcess,
  chain: BenchChain,
  databaseUrl: string,
  seen: Promise<Sight[]>,
): Promise<Cost> {
  const names = chain.registrations
  const { ms } = await waitUntilIndexed(daemon, chain, databaseUrl)
  await waitUntilCaughtUp(databaseUrl)
  const speeds = speedsOf([{ names: 0, ms: daemon.leadingMs }, ...(await seen)])
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const { rows } = await client.query<{ bytes: string }>('SELECT pg_database_size(current_database()) AS bytes')
  await client.end()
  const bulk = await measureBulk(daemon.api, databaseUrl, names, ROUNDS)
  const asked = bulk.map(({ title, ours }): [string, number] => [title, latencyOf(ours).p50])
  const changed = await benchTokens(daemon.api, databaseUrl, CHANGES)
  return {
    ...{ names, speeds, seconds: ms / 1_000, bytesAName: Number(rows[0]!.bytes) / names },
    ms: new Map([
      ['GET /v1/names/address/:address', await lookUps(daemon.api, names)],
      ...asked,
      ['POST /v1/clusters/wallets', changed],
    ]),
  }
}

/** What the journal held at a time of the clock. */
interface Sight {
  names: number
  ms: number
}

/** Follows the journal to the last name, from before its tables are there. */
async function watchJournal(databaseUrl: string, names: number): Promise<Sight[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const seen: Sight[] = []
  const held = 'SELECT serial AS names FROM journal_heads WHERE network = 0'
  for (let last = 0; last < names; await sleep(POLL_MS)) {
    const rows = await client.query<{ names: string }>(held).then(
      (found) => found.rows,
      () => [],
    )
    const now = Number(rows[0]?.names ?? 0)
    if (now > last) seen.push({ names: now, ms: Date.now() })
    last = now
  }
  await client.end()
  return seen
}

/** Names a second in each tenth; between two sights of the journal it grew evenly. */
function speedsOf(seen: readonly Sight[]): number[] {
  const all = seen.at(-1)!.names
  const msAt = (names: number): number => {
    // the first sight is before all names
    const i = Math.max(
      1,
      seen.findIndex((sight) => sight.names >= names),
    )
    const [before, after] = [seen[i - 1]!, seen[i]!]
    return before.ms + ((names - before.names) / (after.names - before.names)) * (after.ms - before.ms)
  }
  const step = all / PARTS
  return Array.from({ length: PARTS }, (_, i) => (step * 1_000) / (msAt((i + 1) * step) - msAt(i * step)))
}

async function lookUps(api: string, names: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  for (let i = 0; i < LOOKUPS; i++) {
    const url = `${api}/v1/names/address/${walletOf((i * 7_919) % names)}`
    times.push(await timed(() => ask(agent, url)))
  }
  agent.destroy()
  return latencyOf(times.slice(LOOKUPS / 10)).p50
}

/** Writes the plots and the table of docs/performance.md. */
function write(costs: readonly Cost[], machine: string): void {
  mkdirSync(PLOTS, { recursive: true })
  const kinds = [...costs[0]!.ms.keys()]
  const line = (name: string, of: (cost: Cost) => number): Series => ({
    name,
    points: costs.map((cost) => [cost.names, of(cost)]),
  })
  const along = costs.filter(({ names }) => names >= ALONG)
  const tenth = ({ names, speeds }: Cost, i: number) => (names >= ALONG ? thousands(speeds.at(i)!) : '–')
  const plots = {
    requests: {
      ...{ title: 'Median of requests, one after another', x: 'names', y: 'ms', isLogX: true, isLogY: true },
      series: kinds.map((kind) => line(kind, (cost) => cost.ms.get(kind)!)),
    },
    backfill: {
      ...{ title: 'Speed of the first catch-up along the chain', x: '% of the chain', y: 'names per second' },
      series: along.map(({ names, speeds }) => ({
        name: `${thousands(names)} names`,
        points: speeds.map((speed, i): [number, number] => [((i + 0.5) * 100) / PARTS, speed]),
      })),
    },
    size: {
      ...{ title: 'Size of the database', x: 'names', y: 'bytes per name', isLogX: true },
      series: [line('with indexes', (cost) => cost.bytesAName)],
    },
  }
  for (const [name, plot] of Object.entries(plots))
    if (plot.series.length > 0) writeFileSync(new URL(`${name}.svg`, PLOTS), drawPlot(plot))
  const rows = [
    ['', ...costs.map(({ names }) => `${thousands(names)} names`)],
    ['from spawn to the last name, s', ...costs.map(({ seconds }) => seconds.toFixed(1))],
    ['names per second, first tenth', ...costs.map((cost) => tenth(cost, 0))],
    ['names per second, last tenth', ...costs.map((cost) => tenth(cost, -1))],
    ...kinds.map((kind) => [`${kind}, ms`, ...costs.map(({ ms }) => ms.get(kind)!.toFixed(2))]),
    ['bytes per name', ...costs.map(({ bytesAName }) => thousands(bytesAName))],
  ]
  printTable(rows)
  writeTable('growth', machine, rows)
}

await runBench(main)
