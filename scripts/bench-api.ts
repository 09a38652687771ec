/**
 * `npm run bench:api`: look-ups, status polls and token exchanges against the daemon, beside a bare Express route and
 * bare node:http, each in a separate process, in the same run. docs/measure/benchmarks.md says what is measured.
 */
import { Agent } from 'node:http'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { createDatabase } from '../src/testing/processes/postgres.js'
import { ask } from './bench/ask.js'
import {
  type Bench,
  cpuMs,
  cpuOf,
  median,
  peakMemoryKib,
  printTable,
  runBench,
  thousands,
  treeCpuMs,
} from './bench/bench.js'
import { fillChain, nameOf, walletOf } from './bench/chain.js'
import { addEns, benchEns } from './bench/ens.js'
import { byRun, recordFigure } from './bench/figure.js'
import type { LoadRequest } from './bench/generator.js'
import {
  prepareBench,
  startBareServer,
  startDaemonProcess,
  waitUntilIndexed,
  waitUntilRested,
} from './bench/programs.js'
import { addressRequests, checkRequests, nameRequests, statusRequests } from './bench/requests.js'
import { benchTokens } from './bench/tokens.js'

const SINGLES = 1_000
/** Number of different requests per kind, so that no single row is read over and over. */
const VARIETY = 1_000
const WARM_UP_S = 1
const USAGE = `usage: npm run bench:api -- [options]
  --registrations <n>  in the database (default 100000)
  --connections <n>    kept open by the driver (default 16)
  --seconds <n>        of each measurement (default 2)
  --runs <n>           rounds of which the median counts (default 5)
  --tokens <n>         token exchanges, and changes, of each type of wallet, and names of ENS (default 1500)
  --profile <dir>      a CPU profile of the daemon
  --cli <file>         another build's command line (.js or .ts) instead of a fresh build`

const { values } = parseArgs({
  options: {
    registrations: { type: 'string', default: '100000' },
    connections: { type: 'string', default: '16' },
    seconds: { type: 'string', default: '2' },
    runs: { type: 'string', default: '5' },
    tokens: { type: 'string', default: '1500' },
    profile: { type: 'string' },
    cli: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const sizes = [
  values.registrations,
  values.connections,
  values.seconds,
  values.runs,
  values.tokens,
].map(Number)
const [registrations, connections, seconds, runs, tokens] = sizes as [
  number,
  number,
  number,
  number,
  number,
]
if (values.help || !sizes.every((n) => Number.isSafeInteger(n) && n > 0)) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}

interface Target {
  title: string
  url: string
  /** Id of the process that answers. */
  pid: number
  requests: autocannon.Request[]
  /** Text that the answer to the first request has to contain. */
  holds: string
}

interface Result {
  perS: number
  p50Ms: number
  p99Ms: number
  /** Processor time of the answering process per request, µs. */
  cpuUs: number
}

/** Index of bare Express in the list of targets. */
const FLOOR = 1

async function main(bench: Bench): Promise<void> {
  const { home, onEnd } = bench
  const { cli, postgres } = await prepareBench(bench, values.cli)
  const chain = await fillChain(home, registrations, SINGLES)
  onEnd(() => chain.anvil.stop())
  const ens = await addEns(chain)
  const databaseUrl = await createDatabase(postgres.url, 'api')
  const daemon = await startDaemonProcess({
    cli,
    home,
    chain,
    databaseUrl,
    ...(values.profile && { profileDir: resolve(values.profile) }),
  })
  onEnd(() => daemon.stop())
  await waitUntilIndexed(daemon, chain, databaseUrl)
  await waitUntilRested(databaseUrl)
  const bareExpress = await startBareServer('express', home)
  onEnd(() => bareExpress.child.end('SIGTERM', 1_000))
  const bareHttp = await startBareServer('http', home)
  onEnd(() => bareHttp.child.end('SIGTERM', 1_000))
  console.log(
    `${thousands(chain.registrations)} registrations, ${connections} connections, ${seconds} s a measurement`,
  )

  const bare = { requests: [{ method: 'GET', path: '/constant' } as const], holds: '"main"' }
  const ours = { url: daemon.api, pid: daemon.child.pid }
  const targets: Target[] = [
    { title: 'bare node:http', url: bareHttp.url, pid: bareHttp.child.pid, ...bare },
    { title: 'bare Express', url: bareExpress.url, pid: bareExpress.child.pid, ...bare },
    {
      title: 'GET /v1/names/address/:address',
      ...ours,
      requests: driven(addressRequests(chain, VARIETY)),
      holds: `"${nameOf(0)}"`,
    },
    {
      title: 'POST /v1/names (one name)',
      ...ours,
      requests: driven(nameRequests(chain, VARIETY)),
      holds: walletOf(0),
    },
    {
      title: 'POST /v1/names/register/check (one name)',
      ...ours,
      requests: driven(checkRequests(chain, VARIETY)),
      holds: ':false',
    },
    {
      title: 'GET /v1/names/register/tx/:tx',
      ...ours,
      requests: driven(statusRequests(chain)),
      holds: '"finalized"',
    },
  ]
  for (const target of targets) await checkAnswer(target)
  for (const target of targets) await drive(target, WARM_UP_S)
  const results = targets.map((): Result[] => [])
  const floors = targets.map((): Result[] => [])
  for (let run = 1; run <= runs; run++) {
    for (const [i, target] of targets.entries()) {
      // the floor is measured right before, since the machine's speed changes within seconds
      if (i > FLOOR) floors[i]!.push(await drive(targets[FLOOR]!, seconds))
      results[i]!.push(await drive(target, seconds))
    }
  }
  report(targets, results, floors)
  const countMs = () => cpuMs([daemon.child.pid]) + treeCpuMs(postgres.pid)
  const asked = { api: daemon.api, count: tokens, runs, countMs }
  await benchJoin(daemon.api, daemon.child.pid, countMs)
  await benchTokens(asked)
  await benchEns(asked, chain, ens)
}

/** Checks the answer to the first request of a target: wrong answers may be faster than right answers. */
async function checkAnswer({ title, url, requests, holds }: Target): Promise<void> {
  const { method = 'GET', path = '/', headers, body } = requests[0]!
  const init = { method, headers: headers as Record<string, string>, ...(body ? { body } : {}) }
  const text = await (await fetch(`${url}${path}`, init)).text()
  if (!text.includes(holds))
    throw new Error(`checking ${title}: its answer does not have ${holds}: ${text}`)
}

/** Requests in the form of autocannon, which sends them. */
const driven = (requests: readonly LoadRequest[]): autocannon.Request[] =>
  requests.map(({ path, body }) =>
    body === undefined
      ? { method: 'GET', path }
      : { method: 'POST', path, body, headers: { 'content-type': 'application/json' } },
  )

async function drive({ title, url, pid, requests }: Target, duration: number): Promise<Result> {
  const cpuBeforeMs = cpuMs([pid])
  const result = await autocannon({ url, requests, connections, duration })
  if (result.non2xx > 0 || result.errors > 0 || result.requests.total === 0)
    throw new Error(
      `driving ${title}: ${result.non2xx} answers other than 200, ${result.errors} errors`,
    )
  const { total } = result.requests
  const cpuUs = ((cpuMs([pid]) - cpuBeforeMs) * 1_000) / total
  return {
    perS: total / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
    cpuUs,
  }
}

/** Measures how wallets are read by one streamed request, beside bulk look-ups of the same wallets. */
async function benchJoin(url: string, pid: number, countMs: () => number): Promise<void> {
  const wallets = Array.from({ length: Math.min(registrations, 100_000) }, (_, n) => walletOf(n))
  const costOf = (path: string, length: number): Promise<number> =>
    cpuOf(countMs, async () => {
      for (let n = 0; n < wallets.length; n += length)
        await ask(new Agent(), url + path, { body: JSON.stringify(wallets.slice(n, n + length)) })
    })
  const floor: number[] = []
  const join: number[] = []
  const peakKib = peakMemoryKib(pid)
  for (let run = 0; run < runs; run++) {
    floor.push(await costOf('/v1/names/address', VARIETY))
    join.push(await costOf('/v1/wallets', wallets.length))
  }
  recordFigure({
    title: 'POST /v1/wallets',
    floor: 'POST /v1/names/address',
    measure: 'processor',
    ratios: byRun(join, floor),
  })
  const more = ((peakMemoryKib(pid) - peakKib) / 1_024).toFixed(0)
  console.log(
    `join of ${thousands(wallets.length)}: ${thousands(median(join))} ms of processor (${thousands(median(floor))}), ${more} MiB`,
  )
}

/** Latency in ms as text; autocannon counts whole milliseconds. */
const ms = (value: number): string => (value < 1 ? '<1' : String(value))

/** Prints the results of each target, and records those that have a floor. Both lists are by target, then by run. */
function report(
  targets: readonly Target[],
  results: readonly (readonly Result[])[],
  floors: readonly (readonly Result[])[],
): void {
  const costs = (runs: readonly Result[]) => runs.map(({ cpuUs }) => cpuUs)
  const floor = targets[FLOOR]!.title
  for (const [i, { title }] of targets.entries()) {
    const ratios = byRun(costs(results[i]!), costs(floors[i]!))
    if (i > FLOOR) recordFigure({ title, floor, measure: 'processor', ratios })
  }
  const of = (i: number, key: keyof Result) => median(results[i]!.map((result) => result[key]))
  console.log(`\nmedian of ${runs}`)
  printTable([
    ['', 'requests/s', 'p50 ms', 'p99 ms', 'µs of processor', 'of node:http', 'of Express'],
    ...targets.map(({ title }, i) => [
      ...[
        title,
        thousands(of(i, 'perS')),
        ms(of(i, 'p50Ms')),
        ms(of(i, 'p99Ms')),
        of(i, 'cpuUs').toFixed(1),
      ],
      ...[0, 1].map((floor) => (of(i, 'perS') / of(floor, 'perS')).toFixed(2)),
    ]),
  ])
}

await runBench(main)
