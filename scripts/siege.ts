/**
 * `npm run siege`: a local world under floods of each kind that docs/use/limits.md bounds, from four addresses,
 * while honest visitors look up, change and buy. Exit code 1 if they wait for too long, compared with a bare Express
 * server beside, or a request fails, or memory grows, or look-ups are still slow five seconds after the end. Where HAProxy
 * is installed, all requests go through it. With `--proxy none`, waits and failures during the floods are not judged.
 * With `--reach`, one address sends one flood after the other, and then four addresses do. Visitors' look-ups are
 * compared before and during each. `--attack` selects the floods, `--attackers` the number of addresses.
 * `--proxy` selects the proxy, whose configuration is that of examples/deploy/topology.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { CONFIRMATION_BLOCKS } from '../src/testing/chains/localChain.js'
import { localChainClients } from '../src/testing/chains/localClients.js'
import { type Stack, startStack, until } from '../src/testing/index.js'
import { startBuiltPrograms } from '../test/setup/built.js'
import { HAPROXY, NGINX, startExample } from '../test/support/proxies.js'
import {
  type Bench,
  cpuMs,
  describeMachine,
  machineMs,
  printTable,
  runBench,
  thousands,
} from './bench/bench.js'
import { startBareServer } from './bench/programs.js'
import type { Counts } from './siege/attacker.js'
import { startAttacker } from './siege/attackers.js'
import { REACH } from './siege/floods.js'
import {
  type Answered,
  buyerOf,
  constants,
  lookUps,
  type Met,
  memberOf,
  transfers,
} from './siege/honest.js'
import { measureReaches } from './siege/reach.js'

const PROGRAMS = { haproxy: HAPROXY, nginx: NGINX, none: null }
type ProxyName = keyof typeof PROGRAMS
const isProxyName = (name: string): name is ProxyName => Object.hasOwn(PROGRAMS, name)
/** Largest number of attackers of all passes of a reach: each has an address of its own for each flood. */
const MOST_ATTACKERS = 64

const USAGE = `usage: npm run siege -- [options]
  --seconds <n>    of the siege, at least 10 (default 180), or of each flood of a reach (default 5)
  --proxy <name>   haproxy, nginx or none (default: none in a reach, else haproxy where it is installed)
  --reach          one flood after the other, with look-ups before and during each
  --attack <name>  of a reach, may be repeated (default all): ${REACH.join(', ')}
  --attackers <n>  addresses in a reach that send each flood; repeated, one pass for each number
                   (default 1 and 4; ${MOST_ATTACKERS} in all)
  --help           prints this`

const { values } = parseArgs({
  options: {
    seconds: { type: 'string' },
    proxy: { type: 'string' },
    reach: { type: 'boolean', default: false },
    attack: { type: 'string', multiple: true, default: [] },
    attackers: { type: 'string', multiple: true, default: ['1', '4'] },
    help: { type: 'boolean', default: false },
  },
})
const isReach = values.reach || values.attack.length > 0
const attacks = values.attack.length > 0 ? values.attack : REACH
const seconds = Number(values.seconds ?? (isReach ? 5 : 180))
const counts = values.attackers.map(Number)
const areCounts =
  counts.every((count) => Number.isInteger(count) && count >= 1) &&
  counts.reduce((sum, count) => sum + count, 0) <= MOST_ATTACKERS
const defaultProxy = HAPROXY.isInstalled && !isReach ? 'haproxy' : 'none'
const proxyName = values.proxy ?? defaultProxy
if (
  values.help ||
  !(seconds >= (isReach ? 0.5 : 10)) ||
  !areCounts ||
  !isProxyName(proxyName) ||
  attacks.some((name) => !REACH.includes(name))
) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}
const proxyProgram = PROGRAMS[proxyName]
if (proxyProgram?.isInstalled === false) {
  console.log(`${proxyName} is not installed here.`)
  process.exit(2)
}
startBuiltPrograms('siege')

const ATTACKERS = ['127.0.1.1', '127.0.1.2', '127.0.1.3', '127.0.1.4']
const VISITOR = '127.0.2.1'
const MEMBER = '127.0.2.2'
const BUYER = '127.0.2.3'

/**
 * Largest latency of honest visitors, at the 99th percentile, as a ratio to that of a bare Express server. The same
 * machine runs both in the same seconds, and how fast it is affects both.
 */
const MAX_RATIOS = { lookUps: 6, changes: 20 }
/**
 * Maximum number of blocks that the tables may be behind the hub: the limit of the daemon's own alarm, plus one block
 * that was just mined.
 */
const LAG_BLOCKS = 4
/** Largest ratio of the peak memory in the last third of a run to that in the middle third that counts as flat. */
const FLAT = 1.1
const SAMPLE_MS = 1_000
/** Time from the end of the siege to look-ups that have to be as quick as before it. */
const RECOVERY_MS = 5_000
/** Duration of look-ups without a flood, before and after the siege. */
const IDLE_MS = 2_000
/** Largest ratio of the median latency after the siege to that before it, unless they differ by little. */
const MAX_RECOVERED = 2
const RECOVERED_MARGIN_MS = 5
const PACE_MS = 40
/** Number of rows of the printed table of memory. */
const ROWS = 20

/** Metrics of the daemon's memory, by the columns of the printed table. */
const GAUGES = {
  'heap MiB': 'nodejs_heap_size_total_bytes',
  'used MiB': 'nodejs_heap_size_used_bytes',
  'external MiB': 'nodejs_external_memory_bytes',
}

interface Sample {
  /** Time of the sample by this process's clock (performance.now), ms. */
  atMs: number
  /** Processor time so far of the daemon, of all processes of the machine, and stolen by the host, ms. */
  cpuMs: number[]
  memoryMib: number
  lagBlocks: number
  /** Values of `GAUGES`, in their order, MiB. */
  gaugesMib: number[]
}

/** Samples the daemon's memory and its distance to the hub's head, each second. */
async function watch(stack: Stack, signal: AbortSignal): Promise<Sample[]> {
  const samples: Sample[] = []
  const { hub } = stack.networks.mainnet
  const { reader } = localChainClients(hub)
  const nextBlock = new RegExp(
    `^clusterd_chain_next_block{network="mainnet",chain="${hub.network}"} (.*)$`,
    'm',
  )
  while (!signal.aborted) {
    const head = Number(await reader.getBlockNumber({ cacheTime: 0 }))
    // a kept-alive connection may end while this process is not scheduled
    const metrics = await fetch(`${stack.ops}/metrics`, { headers: { connection: 'close' } }).then(
      (res) => res.text(),
    )
    const indexed = Number(nextBlock.exec(metrics)?.[1]) - 1 + CONFIRMATION_BLOCKS
    const rss = /^VmRSS:\s+(\d+) kB$/m.exec(
      readFileSync(`/proc/${stack.daemon.pid}/status`, 'utf8'),
    )?.[1]
    const gaugesMib = Object.values(GAUGES).map(
      (gauge) => Number(new RegExp(`^${gauge} (.*)$`, 'm').exec(metrics)?.[1]) / 2 ** 20,
    )
    const used = [cpuMs([stack.daemon.pid]), ...machineMs()]
    samples.push({
      atMs: performance.now(),
      cpuMs: used,
      memoryMib: Number(rss) / 1_024,
      lagBlocks: head - indexed,
      gaugesMib,
    })
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS))
  }
  return samples
}

const percentile = (ms: readonly number[], share: number): number =>
  ms.toSorted((a, b) => a - b)[Math.min(ms.length - 1, Math.floor(ms.length * share))] ?? Number.NaN

interface Latency {
  p99Ms: number
  /** Broken promises: the number of failed requests, and the first one. */
  broken: string[]
}

/** Prints a visitor's latencies. */
function measureLatency(name: string, { ms, failed }: Answered): Latency {
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => percentile(ms, share))
  console.log(
    `${name.padEnd(12)} ${thousands(ms.length).padStart(7)} answers, p50 ${p50!.toFixed(1)} ms, p99 ${p99!.toFixed(1)} ms, longest ${most!.toFixed(0)} ms; ${failed.length} failed`,
  )
  const broken = failed.length === 0 ? [] : [`${name}: ${failed.length} failed, first ${failed[0]}`]
  return { p99Ms: p99!, broken }
}

/** Prints latencies of visitors and of bare Express, and their ratios. @returns broken promises */
function judgeLatencies({
  bare,
  looked,
  changed,
}: Record<'bare' | 'looked' | 'changed', Answered>): string[] {
  const floor = measureLatency('bare Express', bare)
  const kinds = [
    { name: 'look-ups', ...measureLatency('look-ups', looked), most: MAX_RATIOS.lookUps },
    { name: 'changes', ...measureLatency('changes', changed), most: MAX_RATIOS.changes },
  ]
  return [
    ...floor.broken,
    ...kinds.flatMap(({ name, p99Ms, broken, most }) => {
      const ratio = p99Ms / floor.p99Ms
      console.log(`${name.padEnd(12)} p99 ${ratio.toFixed(2)} of bare Express, at most ${most}`)
      // a comparison with NaN is false: a run without answers has shown nothing
      const slow = ratio <= most ? [] : [`${name}: p99 ${ratio.toFixed(2)} of bare Express`]
      return [...broken, ...slow]
    }),
  ]
}

/**
 * Prints the course of a run by twentieths of its time: the daemon's largest memory, processors, visitors' look-ups.
 */
function printCourse(samples: readonly Sample[], { ms, atMs }: Met): void {
  const startMs = samples[0]!.atMs
  const count = Math.max(1, Math.min(ROWS, Math.floor(samples.length / 2)))
  const sizeMs = (samples.at(-1)!.atMs - startMs + 1) / count
  const rowOf = (at: number) => Math.floor((at - startMs) / sizeMs)
  const rows = Array.from({ length: count }, (_, row) =>
    samples.filter((sample) => rowOf(sample.atMs) === row),
  )
  const most = (values: readonly number[]) => Math.max(...values).toFixed(0)
  printTable([
    [
      ...['until second', 'resident MiB', ...Object.keys(GAUGES)],
      ...['daemon %', 'machine %', 'stolen %', 'look-ups p99 ms'],
    ],
    ...rows.flatMap((part, row) => {
      const first = part[0]
      const last = part.at(-1)
      if (!first || !last || first === last) return []
      const share = (i: number) =>
        ((last.cpuMs[i]! - first.cpuMs[i]!) / (last.atMs - first.atMs)) * 100
      const looked = ms.filter((_, i) => rowOf(atMs[i]!) === row)
      return [
        [
          ...[
            ((last.atMs - startMs) / 1_000).toFixed(0),
            most(part.map(({ memoryMib }) => memoryMib)),
          ],
          ...Object.keys(GAUGES).map((_, column) =>
            most(part.map(({ gaugesMib }) => gaugesMib[column]!)),
          ),
          ...[0, 1, 2].map((i) => share(i).toFixed(0)),
          percentile(looked, 0.99).toFixed(0),
        ],
      ]
    }),
  ])
}

function judgeSamples(samples: readonly Sample[]): string[] {
  const third = Math.floor(samples.length / 3)
  const peak = (part: readonly Sample[]) => Math.max(...part.map(({ memoryMib }) => memoryMib))
  const peaks = [0, 1, 2].map((i) => peak(samples.slice(i * third, (i + 1) * third)))
  const lags = samples.map(({ lagBlocks }) => lagBlocks).filter((blocks) => !Number.isNaN(blocks))
  const lag = Math.max(...lags)
  console.log(
    `daemon       peak memory by thirds ${peaks.map((mib) => mib.toFixed(0)).join(', ')} MiB; at most ${lag} blocks behind the hub`,
  )
  return [
    ...(peaks[2]! <= FLAT * peaks[1]!
      ? []
      : [`memory grew from ${peaks[1]!.toFixed(0)} to ${peaks[2]!.toFixed(0)} MiB`]),
    ...(lags.length === samples.length
      ? []
      : [`nothing was indexed in ${samples.length - lags.length} seconds`]),
    ...(lag <= LAG_BLOCKS ? [] : [`the indexer was ${lag} blocks behind the hub`]),
  ]
}

function printCounts(all: readonly Counts[]): void {
  const sum: Counts = {}
  for (const counts of all)
    for (const [flood, byStatus] of Object.entries(counts)) {
      sum[flood] ??= {}
      for (const [status, n] of Object.entries(byStatus))
        sum[flood][status] = (sum[flood][status] ?? 0) + n
    }
  for (const [flood, byStatus] of Object.entries(sum))
    console.log(
      `  ${flood.padEnd(26)} ${Object.entries(byStatus)
        .map(([status, n]) => `${status}: ${thousands(n)}`)
        .join(', ')}`,
    )
}

/** Compares look-ups before the siege with those that begin `RECOVERY_MS` after its end. @returns broken promises */
function judgeRecovery(before: Answered, after: Answered): string[] {
  const [idleMs, againMs] = [before, after].map(({ ms }) => percentile(ms, 0.5)) as [number, number]
  console.log(
    `recovery     look-ups p50 ${idleMs.toFixed(1)} ms before, ${againMs.toFixed(1)} ms from ${RECOVERY_MS / 1_000} s after the end on`,
  )
  const failed = [...before.failed, ...after.failed]
  return [
    ...(againMs <= Math.max(MAX_RECOVERED * idleMs, idleMs + RECOVERED_MARGIN_MS)
      ? []
      : [`look-ups were not idle again: ${againMs.toFixed(1)} ms`]),
    ...(failed.length === 0
      ? []
      : [`look-ups without a flood: ${failed.length} failed, first ${failed[0]}`]),
  ]
}

/** Prints broken promises, which are an error. */
function report(broken: readonly string[]): void {
  for (const line of broken) console.log(`BROKEN: ${line}`)
  if (broken.length > 0) process.exitCode = 1
}

async function main({ home, onEnd }: Bench): Promise<void> {
  const stack = await startStack({
    limits: true,
    ...(proxyProgram && { daemonEnv: { TRUST_PROXY: '1' } }),
  })
  onEnd(() => stack.stop())
  const proxy = proxyProgram && (await startExample(proxyProgram, Number(new URL(stack.api).port)))
  if (proxy) onEnd(proxy.stop)
  const api = proxy?.url ?? stack.api
  console.log(await describeMachine(stack.databaseUrl))
  console.log(`proxy: ${proxyName}`)
  const { hub, spokes } = stack.networks.mainnet
  const { name, owner, communities } = stack.seeds.mainnet!
  const targets = {
    name,
    owner,
    spoke: spokes[0]!.network,
    transfers: await transfers(hub, 50),
    openCommunity: communities!.open.name,
    paidCommunity: communities!.paid.name,
  }
  if (isReach) {
    const besieged = { api, daemonPid: stack.daemon.pid, targets }
    const broken = await measureReaches(besieged, { seconds, attacks, counts })
    report(broken)
    return
  }
  const bareExpress = await startBareServer('express', home)
  onEnd(() => bareExpress.child.end('SIGTERM', 1_000))
  const change = await memberOf(api, MEMBER, seconds)
  const buy = await buyerOf(api, BUYER, hub)
  const lookUpsWithoutFlood = () =>
    lookUps(api, VISITOR, { name, owner }, AbortSignal.timeout(IDLE_MS))
  const before = await lookUpsWithoutFlood()
  const attackers = ATTACKERS.map(() => startAttacker(api, targets))
  onEnd(() => Promise.all(attackers.map(({ close }) => close())))
  await Promise.all(attackers.map(({ begin }, i) => begin({ localAddress: ATTACKERS[i]! })))
  stack.failed.then((why) => console.log(`${why}\n${stack.daemon.logs().slice(-20_000)}`))
  // no AbortSignal.any with a timeout: nothing else references the timeout, and Node 20 collects it before it fires
  const ended = new AbortController()
  const { signal } = ended
  const timer = setTimeout(() => ended.abort(), seconds * 1_000)
  onEnd(async () => {
    clearTimeout(timer)
    ended.abort()
  })
  const [looked, bare, changed, bought, samples] = await Promise.all([
    lookUps(api, VISITOR, { name, owner }, signal),
    constants(bareExpress.url, VISITOR, signal),
    change(signal),
    buy(signal),
    watch(stack, signal),
  ])
  console.log(`${seconds} s are over`)
  const answered = await Promise.all(attackers.map(({ end }) => end()))
  console.log(
    `${seconds} s under siege from ${ATTACKERS.length} addresses; answers to the attackers by status (-1: none):`,
  )
  await new Promise((resolve) => setTimeout(resolve, RECOVERY_MS))
  const after = await lookUpsWithoutFlood()
  printCounts(answered)
  printCourse(samples, looked)
  const latencies = judgeLatencies({ bare, looked, changed })
  const purchases = bought.failed
    .slice(0, 1)
    .map((first) => `purchases: ${bought.failed.length} failed, first ${first}`)
  const broken = [
    // one process alone only has to bear the siege and to recover: its proxy bounds what an address may do
    ...(proxyProgram ? [...latencies, ...purchases] : []),
    ...judgeSamples(samples),
    ...judgeRecovery(before, after),
  ]
  if (!proxyProgram)
    for (const line of [...latencies, ...purchases]) console.log(`not judged: ${line}`)
  for (const tx of bought.hashes) {
    await until.status(stack, tx, 'finalized')
    // pause, so that the registrations of an hour stay under the limit of one address
    await new Promise((resolve) => setTimeout(resolve, PACE_MS))
  }
  console.log(`buyer        ${bought.hashes.length} registrations, all finalized`)
  report(broken)
}

await runBench(main)
