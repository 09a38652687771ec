/**
 * `npm run bench:index -- 50000`: registrations per second from nothing, and the daemon's peak memory, beside a bare
 * loop over the same chain in the same run. docs/measure/benchmarks.md says what is measured.
 */
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createDatabase, type Postgres, startPostgres } from '../src/testing/processes/postgres.js'
import {
  type Bench,
  median,
  peakMemoryKib,
  printTable,
  runBench,
  thousands,
  treeCpuMs,
} from './bench/bench.js'
import { type BenchChain, fillChain } from './bench/chain.js'
import { byRun, recordFigure } from './bench/figure.js'
import {
  buildBare,
  countRegistrations,
  type Indexed,
  prepareBench,
  runLoop,
  startDaemonProcess,
  waitUntilIndexed,
} from './bench/programs.js'

const DEFAULT_REGISTRATIONS = 50_000
const DEFAULT_RUNS = 3
const USAGE = `usage: npm run bench:index -- [registrations] [options]
  --runs <n>      rounds of which the median counts (default ${DEFAULT_RUNS})
  --no-floor      the daemon alone
  --cli <file>    another build's command line (.js or .ts) instead of a fresh build
  --profile <dir> CPU profiles of the daemon go there`

type Phase = 'daemon' | 'viem'
interface Result {
  perS: number
  /** Processor time per registration, in microseconds: comparable even when other programs use the machine too. */
  cpuUs: number
  serverCpuUs: number
  peakKib: number
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: String(DEFAULT_RUNS) },
    'no-floor': { type: 'boolean', default: false },
    cli: { type: 'string' },
    profile: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const registrations = Number(positionals[0] ?? DEFAULT_REGISTRATIONS)
const runs = Number(values.runs)
const isCount = (n: number) => Number.isSafeInteger(n) && n >= 0
if (values.help || ![registrations - 1, runs - 1].every(isCount)) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}

async function main(bench: Bench): Promise<void> {
  const { home, onEnd } = bench
  const { cli } = await prepareBench(bench, values.cli)
  const loop = buildBare(onEnd)
  const chain = await fillChain(home, registrations)
  onEnd(() => chain.anvil.stop())
  console.log(
    `${thousands(registrations)} registrations in blocks ${chain.startBlock} to ${chain.lastBlock}, counted`,
  )

  const results: Record<Phase, Result[]> = { daemon: [], viem: [] }
  const profiling = values.profile ? { profileDir: resolve(values.profile) } : {}
  const phases: Phase[] = values['no-floor'] ? ['daemon'] : ['daemon', 'viem']
  for (let run = 1; run <= runs; run++) {
    for (const phase of phases) {
      // a separate server for each run, so that no run pays for the writes of another
      const postgres = await startPostgres({ dataDir: `${home}/pg_${phase}_${run}` })
      onEnd(() => postgres.stop())
      const databaseUrl = await createDatabase(postgres.url, 'index')
      const server = { postgres, databaseUrl }
      const result =
        phase === 'daemon'
          ? await measureDaemon({ cli, home, chain, ...server, ...profiling })
          : await measureLoop(loop, { chain, home, ...server })
      await postgres.stop()
      results[phase].push(result)
      console.log(
        `run ${run}, ${TITLE[phase]}: ${thousands(result.perS)}/s, ${result.cpuUs.toFixed(1)} + ${result.serverCpuUs.toFixed(1)} µs, peak ${mib(result)} MiB`,
      )
    }
  }
  report(results, phases)
}

async function measureDaemon(
  options: Parameters<typeof startDaemonProcess>[0] & { postgres: Postgres },
): Promise<Result> {
  const { chain, databaseUrl, postgres } = options
  const beforeMs = treeCpuMs(postgres.pid)
  const daemon = await startDaemonProcess(options)
  try {
    const indexed = await waitUntilIndexed(daemon, chain, databaseUrl)
    const serverCpuMs = treeCpuMs(postgres.pid) - beforeMs
    const peakKib = peakMemoryKib(daemon.child.pid)
    checkCount('the daemon', await countRegistrations(databaseUrl))
    return { ...perRegistration(indexed, serverCpuMs), peakKib }
  } finally {
    await daemon.stop()
  }
}

async function measureLoop(
  loop: string,
  {
    chain,
    databaseUrl,
    home,
    postgres,
  }: { chain: BenchChain; databaseUrl: string; home: string; postgres: Postgres },
): Promise<Result> {
  const { rpcUrl, hub, startBlock, lastBlock } = chain
  const job = { rpcUrl, hub, startBlock, lastBlock, databaseUrl }
  const beforeMs = treeCpuMs(postgres.pid)
  const { rows, peakKib, ...took } = await runLoop(loop, job, home)
  const serverCpuMs = treeCpuMs(postgres.pid) - beforeMs
  checkCount('the viem loop', rows)
  return { ...perRegistration(took, serverCpuMs), peakKib }
}

function perRegistration(took: Indexed, serverCpuMs: number): Omit<Result, 'peakKib'> {
  const us = (ms: number) => (ms * 1_000) / registrations
  return {
    perS: (registrations * 1_000) / took.ms,
    cpuUs: us(took.cpuMs),
    serverCpuUs: us(serverCpuMs),
  }
}

function checkCount(who: string, rows: number): void {
  if (rows !== registrations)
    throw new Error(`counting registrations: ${who} has ${rows} of ${registrations}`)
}

const TITLE: Record<Phase, string> = {
  daemon: 'clusterd start',
  viem: 'viem getLogs + COPY',
}
const mib = ({ peakKib }: { peakKib: number }): string => (peakKib / 1_024).toFixed(0)

function report(results: Record<Phase, Result[]>, phases: readonly Phase[]): void {
  const speed = (phase: Phase) => median(results[phase].map(({ perS }) => perS))
  const cpu = (phase: Phase) => median(results[phase].map(({ cpuUs }) => cpuUs)).toFixed(1)
  const serverCpu = (phase: Phase) =>
    median(results[phase].map(({ serverCpuUs }) => serverCpuUs)).toFixed(1)
  const peak = (phase: Phase) => Math.max(...results[phase].map(({ peakKib }) => peakKib))
  console.log(`\nmedian of ${runs}, ${thousands(registrations)} registrations from nothing`)
  printTable([
    ['', 'registrations/s', 'CPU µs each', 'PostgreSQL CPU µs each', 'peak MiB'],
    ...phases.map((phase) => [
      ...[TITLE[phase], thousands(speed(phase)), cpu(phase), serverCpu(phase)],
      mib({ peakKib: peak(phase) }),
    ]),
  ])
  if (phases.length === 1) return
  const costs = (phase: Phase) =>
    results[phase].map(({ cpuUs, serverCpuUs }) => cpuUs + serverCpuUs)
  const times = (phase: Phase) => results[phase].map(({ perS }) => 1 / perS)
  const figure = { title: 'index', floor: TITLE.viem }
  const cost = byRun(costs('daemon'), costs('viem'))
  const time = byRun(times('daemon'), times('viem'))
  recordFigure({ ...figure, measure: 'processor', ratios: cost })
  recordFigure({ ...figure, measure: 'clock', ratios: time })
  console.log(
    `times the viem loop: ${median(cost).toFixed(2)} by processor time, ${median(time).toFixed(2)} by the clock`,
  )
}

await runBench(main)
