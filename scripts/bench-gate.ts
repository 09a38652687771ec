/**
 * `npm run bench:gate`: look-ups at a fixed rate against a million names, first without other work and then during a
 * catch-up, with fixed limits. docs/measure/benchmarks.md says what is measured.
 */
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { createPublicClient, http } from 'viem'
import { addApiKey, generateApiKey } from '../src/db/auth/apiKeys.js'
import { createDatabase } from '../src/testing/processes/postgres.js'
import { spawnChild } from '../src/testing/processes/processes.js'
import { type Bench, machineMs, printTable, runBench, thousands } from './bench/bench.js'
import { type BenchChain, fillChain } from './bench/chain.js'
import { breaches, heldSentence, type Load, nextRate, percent } from './bench/gate.js'
import type { GeneratorJob, LoadRequest } from './bench/generator.js'
import {
  buildBare,
  prepareBench,
  startDaemonProcess,
  waitUntilIndexed,
  waitUntilRested,
} from './bench/programs.js'
import {
  addressRequests,
  checkRequests,
  FEED_REQUEST,
  nameRequests,
  statusRequests,
} from './bench/requests.js'

/** Number of registrations that each have their own transaction. */
const SINGLES = 1_000
const BIDS_A_BLOCK = 500
/** Length of a trial run, which only finds the rate that the machine can carry. */
const PROBE_SECONDS = 5
const MOST_PROBES = 6
/** Requests a second during a catch-up. */
const CATCH_UP_RATE = 500
/** Time during a catch-up for which requests are sent and counted. */
const CATCH_UP_SECONDS = 6
/** Time before it, for which requests are sent but not counted, while a new process compiles its code. */
const WARM_UP_SECONDS = 3
const USAGE = `usage: npm run bench:gate -- [options]
  --names <n>    in the database (default 1000000)
  --keys <n>     that are asked for, spread over all (default 10000)
  --rate <n>     requests a second (default 2000)
  --seconds <n>  of the measurement (default 60)
  --logs <n>     that are caught up under load (default 100000)
  --cli <file>   another build's command line (.js or .ts) instead of a fresh build`

const { values } = parseArgs({
  options: {
    names: { type: 'string', default: '1000000' },
    keys: { type: 'string', default: '10000' },
    rate: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '60' },
    logs: { type: 'string', default: '100000' },
    cli: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const [names, keys, rate, seconds, logs] = [
  values.names,
  values.keys,
  values.rate,
  values.seconds,
  values.logs,
].map(Number) as [number, number, number, number, number]
if (
  values.help ||
  ![names, keys, rate, seconds, logs].every((n) => Number.isSafeInteger(n) && n > 0)
) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}

/** Result of a load, with its rate and the share of the machine's processor time that was left idle. */
type Measured = Load & { rate: number; idle: number }

type MakeRequests = (chain: BenchChain, keys: number) => LoadRequest[]

/** Mixes requests: look-ups, statuses and a page of the feed, in turn. */
function mixOf(chain: BenchChain, lookUps: readonly MakeRequests[]): LoadRequest[] {
  const statuses = statusRequests(chain)
  const made = lookUps.map((make) => make(chain, keys))
  return Array.from({ length: keys }, (_, i) => [
    ...made.map((requests) => requests[i]!),
    statuses[i % statuses.length]!,
    FEED_REQUEST,
  ]).flat()
}

/** Makes an API key with a rate limit that is never reached, as the server of a busy frontend has one. */
async function makeApiKey(databaseUrl: string): Promise<string> {
  const RATE = 1_000_000
  const { key, stored } = generateApiKey({
    wallet: null,
    name: 'gate',
    perSecond: RATE,
    burst: RATE,
  })
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  try {
    await addApiKey(pool, stored)
  } finally {
    await pool.end()
  }
  return key
}

/** Sends requests at a fixed rate from a separate process, and measures the answers and the idle processor time. */
async function generate(program: string, home: string, job: GeneratorJob): Promise<Measured> {
  const file = join(home, 'load.json')
  writeFileSync(file, JSON.stringify(job))
  const startedMs = performance.now()
  const [busyBefore, stolenBefore] = machineMs()
  const logFile = join(home, `generator-${Date.now()}.log`)
  const child = await spawnChild({ command: process.execPath, args: [program, file], logFile })
  const { code } = await child.exited
  const [busy, stolen] = machineMs()
  if (code !== 0) throw new Error(`generating requests: ${child.logTail().trim()}`)

  const wholeMs = availableParallelism() * (performance.now() - startedMs)
  const idle = 1 - (busy - busyBefore + stolen - stolenBefore) / wholeMs
  return { ...(JSON.parse(child.logTail()) as Load), rate: job.rate, idle }
}

async function main(bench: Bench): Promise<void> {
  const { home, onEnd } = bench
  const { cli, postgres } = await prepareBench(bench, values.cli)
  const program = buildBare(onEnd, 'generator')
  const chain = await fillChain(home, names, SINGLES)
  onEnd(() => chain.anvil.stop())
  const databaseUrl = await createDatabase(postgres.url, 'gate')
  const start = async () => {
    const daemon = await startDaemonProcess({ cli, home, chain, databaseUrl })
    onEnd(() => daemon.stop())
    return daemon
  }

  const daemon = await start()
  await waitUntilIndexed(daemon, chain, databaseUrl)
  await waitUntilRested(databaseUrl)
  const apiKey = await makeApiKey(databaseUrl)
  const requests = mixOf(chain, [addressRequests, nameRequests, checkRequests])
  const ask = (at: number, forSeconds: number) =>
    generate(program, home, { url: daemon.api, rate: at, seconds: forSeconds, requests, apiKey })
  const stopMining = chain.keepMining()
  onEnd(async () => stopMining())
  console.log(
    `${thousands(chain.registrations)} names, ${thousands(keys)} keys, limits by ${seconds} s`,
  )

  let held = rate
  for (let probe = 1; probe <= MOST_PROBES; probe++) {
    const { idle } = await ask(held, Math.min(PROBE_SECONDS, seconds))
    const next = nextRate(held, idle)
    console.log(`probe: ${thousands(held)}/s leaves ${percent(idle)} idle`)
    if (next === held) break
    held = next
  }
  const lookUps = await ask(held, seconds)
  if (held < rate) console.log(heldSentence({ wanted: rate, held, idle: lookUps.idle }))
  await daemon.stop()
  stopMining()

  for (let logged = 0; logged < logs; logged += BIDS_A_BLOCK)
    await chain.mineBids(Math.min(BIDS_A_BLOCK, logs - logged))
  const client = createPublicClient({ transport: http(chain.rpcUrl) })
  // a block is confirmed once two blocks follow it
  const lastBlock = Number(await client.getBlockNumber()) - 2
  const again = await start()
  const startedMs = performance.now()
  const catchUp = waitUntilIndexed(again, { ...chain, lastBlock }, databaseUrl).then(
    () => performance.now() - startedMs,
  )
  const busyRate = Math.min(CATCH_UP_RATE, held)
  const busy = await generate(program, home, {
    url: again.api,
    rate: busyRate,
    seconds: Math.min(CATCH_UP_SECONDS, seconds),
    warmUpSeconds: WARM_UP_SECONDS,
    // no availability requests: the daemon refuses them while its copy of the chain is old
    requests: mixOf(chain, [addressRequests, nameRequests]),
    apiKey,
  })
  const tookS = (await catchUp) / 1_000
  await again.stop()

  report({ 'look-ups': lookUps, 'look-ups in a catch-up': busy })
  console.log(`${thousands(logs)} logs were caught up in ${tookS.toFixed(1)} s`)
  const broken = [...breaches('look-ups', lookUps), ...breaches('look-ups in a catch-up', busy)]
  for (const line of broken) console.error(line)
  if (broken.length > 0) process.exitCode = 1
}

function report(loads: Readonly<Record<string, Measured>>): void {
  printTable([
    ['', 'a second', 'requests', 'failed', 'p50 ms', 'p95 ms', 'p99 ms', 'idle'],
    ...Object.entries(loads).map(([title, { rate: at, sent, failed, p50, p95, p99, idle }]) => [
      title,
      thousands(at),
      thousands(sent),
      String(failed),
      ...[p50, p95, p99].map((ms) => ms.toFixed(1)),
      percent(idle),
    ]),
  ])
}

await runBench(main)
