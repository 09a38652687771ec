/**
 * `npm run bench:live`: the time from a block to its registrations' rows in PostgreSQL, and to their answers over HTTP,
 * at few and at many a block, beside a bare follower of the same chain in the same run. docs/measure/benchmarks.md says
 * what is measured.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { createDatabase } from '../src/testing/processes/postgres.js'
import {
  type Bench,
  cpuMs,
  type Latency,
  latencyOf,
  median,
  printTable,
  runBench,
  treeCpuMs,
} from './bench/bench.js'
import { type BenchChain, fillChain, nameOf, walletOf } from './bench/chain.js'
import { byRun, recordFigure } from './bench/figure.js'
import {
  prepareBench,
  startDaemonProcess,
  startLiveLoop,
  waitUntilIndexed,
} from './bench/programs.js'

const REGISTRATIONS = 1_000
const BLOCK_MS = 200
/** What is measured: up to which sign of a block's last registration, and the number of registrations a block. */
const MEASURES = [
  { until: 'row', count: 5 },
  { until: 'answer', count: 5 },
  { until: 'answer', count: 500 },
] as const
type Measure = (typeof MEASURES)[number]
/** Number of first blocks that are not counted. */
const WARM_UP = 10
const POLL_MS = 1
/** Time limit of a wait for an answer: long enough for a daemon that has to index the blocks of the other program. */
const GIVE_UP_MS = 60_000
const USAGE = `usage: npm run bench:live -- [options]
  --blocks <n>  of each measurement (default 40)
  --runs <n>    of each program, in turn, of which the median counts (default 5)
  --cli <file>  another build's command line (.js or .ts) instead of a fresh build`

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '40' },
    runs: { type: 'string', default: '5' },
    cli: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const blocks = Number(values.blocks)
const runs = Number(values.runs)
if (values.help || ![blocks, runs].every((n) => Number.isSafeInteger(n) && n > 0)) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}

/** Delays of blocks, and the processor time that a block costs the program and PostgreSQL, ms. */
interface Followed extends Latency {
  cpu: number
}

/** Measurements of a program, by what is measured, then by run. */
type Runs = Map<Measure, Followed[]>
const noRuns = (): Runs => new Map(MEASURES.map((measure) => [measure, []]))

/** A program that follows the chain. */
interface Program {
  pid: number
  /** URL to which a wallet is appended to ask for its name. */
  base: string
  databaseUrl: string
  /** Statement that has a row once the registration with key `$1` is stored. */
  stored: string
  keyOf(registration: number): string
}

async function main(bench: Bench): Promise<void> {
  const { home, onEnd } = bench
  const { cli, postgres } = await prepareBench(bench, values.cli)
  const chain = await fillChain(home, REGISTRATIONS, 0, { blocks: 0 })
  onEnd(() => chain.anvil.stop())
  const databaseUrl = await createDatabase(postgres.url, 'live')
  const { rpcUrl, hub, anvil } = chain
  const ours = noRuns()
  const floor = noRuns()
  const measure = async (into: Runs, program: Program): Promise<void> => {
    const countMs = () => cpuMs([program.pid]) + treeCpuMs(postgres.pid)
    for (const [{ until, count }, found] of into) {
      const watch = await (until === 'row' ? watchRows(program) : watchAnswers(program))
      found.push(await follow(chain, { count, isThere: watch.isThere, countMs }))
      await watch.end()
    }
  }

  for (let run = 1; run <= runs; run++) {
    const daemon = await startDaemonProcess({ cli, home, chain, databaseUrl })
    onEnd(() => daemon.stop())
    await waitUntilIndexed(daemon, chain, databaseUrl)
    await measure(ours, {
      pid: daemon.child.pid,
      base: `${daemon.api}/v1/names/address`,
      databaseUrl,
      stored: 'SELECT FROM names WHERE network = 0 AND name = $1 AND outcome = 1',
      keyOf: nameOf,
    })
    await daemon.stop()

    const loopUrl = await createDatabase(postgres.url, `loop_${run}`)
    const job = { rpcUrl, wsUrl: anvil.wsUrl, hub, databaseUrl: loopUrl }
    const loop = await startLiveLoop(job, home)
    onEnd(() => loop.child.end('SIGTERM', 1_000))
    await measure(floor, {
      pid: loop.child.pid,
      base: loop.url,
      databaseUrl: loopUrl,
      stored: 'SELECT FROM live WHERE wallet = $1',
      keyOf: walletOf,
    })
    await loop.child.end('SIGTERM', 1_000)
  }
  report(ours, floor)
}

interface Question {
  /** Registrations a block. */
  count: number
  isThere(registration: number): Promise<boolean>
  /** Processor time so far, ms. */
  countMs(): number
}

/** Polls a program's table, in the same way for each program. The polls take no time of the program. */
async function watchRows({ databaseUrl, stored, keyOf }: Program) {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  return {
    async isThere(registration: number): Promise<boolean> {
      const query = { name: 'stored', text: stored, values: [keyOf(registration)] }
      return (await client.query(query)).rowCount === 1
    },
    end: () => client.end(),
  }
}

/** Polls a program over HTTP. Its answers to the polls take a part of its time. */
async function watchAnswers({ base }: Program) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    isThere: (registration: number) => isAnswered(agent, `${base}/${walletOf(registration)}`),
    end: async () => agent.destroy(),
  }
}

/** Mines blocks, and polls for the last registration of each block until the program has it. */
async function follow(chain: BenchChain, { count, isThere, countMs }: Question): Promise<Followed> {
  const delays: number[] = []
  let beforeMs = 0
  for (let block = -WARM_UP; block < blocks; block++) {
    if (block === 0) beforeMs = countMs()
    const startedMs = performance.now()
    const last = await chain.mineBids(count)
    const minedMs = performance.now()
    while (!(await isThere(last))) {
      if (performance.now() - minedMs > GIVE_UP_MS)
        throw new Error(`registration ${last} is not there in ${GIVE_UP_MS} ms`)
      await sleep(POLL_MS)
    }
    if (block >= 0) delays.push(performance.now() - minedMs)
    await sleep(Math.max(0, BLOCK_MS - (performance.now() - startedMs)))
  }
  return { ...latencyOf(delays), cpu: (countMs() - beforeMs) / blocks }
}

const titleOf = ({ until, count }: Measure): string =>
  until === 'row' ? `${count} a block to the row` : `${count} a block`

function report(ours: Runs, floor: Runs): void {
  console.log(
    `\nFrom a block to its last row, and to its answer over HTTP, ${runs} times ${blocks} blocks of ${BLOCK_MS} ms each`,
  )
  const of = (found: readonly Followed[], key: keyof Followed) => found.map((one) => one[key])
  const row = (title: string, found: readonly Followed[]) => [
    title,
    ...(['p50', 'p99', 'cpu'] as const).map((key) => median(of(found, key)).toFixed(1)),
  ]
  printTable([
    ['', 'p50 ms', 'p99 ms', 'ms of processor a block'],
    ...MEASURES.flatMap((measure) => [
      row(`clusterd start, ${titleOf(measure)}`, ours.get(measure)!),
      row(`bare follower, ${titleOf(measure)}`, floor.get(measure)!),
    ]),
  ])
  for (const measure of MEASURES) {
    const figure = { title: `live, ${titleOf(measure)}`, floor: 'bare follower' }
    const ratios = (key: keyof Followed) =>
      byRun(of(ours.get(measure)!, key), of(floor.get(measure)!, key))
    recordFigure({ ...figure, measure: 'processor', ratios: ratios('cpu') })
    recordFigure({ ...figure, measure: 'clock', ratios: ratios('p50') })
  }
}

function isAnswered(agent: Agent, url: string): Promise<boolean> {
  return new Promise((done, fail) => {
    const req = request(url, { agent }, (res) => {
      const { statusCode } = res.resume()
      const isAnswer = statusCode === 200 || statusCode === 404
      res.on('end', () =>
        isAnswer ? done(statusCode === 200) : fail(new Error(`asking ${url}: HTTP ${statusCode}`)),
      )
    })
    req.on('error', fail)
    req.end()
  })
}

await runBench(main)
