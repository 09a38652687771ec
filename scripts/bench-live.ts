/**
 * `npm run bench:live`: the time from a block to its registrations' answers over HTTP, at few and at many a block,
 * beside a bare follower of the same chain in the same run. docs/measure/benchmarks.md says what is measured.
 */
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createDatabase } from '../src/testing/processes/postgres.js'
import { type Bench, type Latency, latencyOf, printTable, runBench } from './bench/bench.js'
import { type BenchChain, fillChain, walletOf } from './bench/chain.js'
import { recordFigure } from './bench/figure.js'
import {
  prepareBench,
  startDaemonProcess,
  startLiveLoop,
  waitUntilIndexed,
} from './bench/programs.js'

const REGISTRATIONS = 1_000
const BLOCK_MS = 200
const PER_BLOCK = [5, 500]
/** Blocks that are not counted. */
const WARM_UP = 10
const POLL_MS = 1
const GIVE_UP_MS = 10_000
const USAGE = `usage: npm run bench:live -- [options]
  --blocks <n>  of each measurement (default 100)
  --cli <file>  another build's command line (.js or .ts) instead of a fresh build`

const { values } = parseArgs({
  options: {
    blocks: { type: 'string', default: '100' },
    cli: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
const blocks = Number(values.blocks)
if (values.help || !Number.isSafeInteger(blocks) || blocks < 1) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}

async function main(bench: Bench): Promise<void> {
  const { home, onEnd } = bench
  const { cli, postgres } = await prepareBench(bench, values.cli)
  const chain = await fillChain(home, REGISTRATIONS, 0, { blocks: 0 })
  onEnd(() => chain.anvil.stop())
  const databaseUrl = await createDatabase(postgres.url, 'live')
  const daemon = await startDaemonProcess({ cli, home, chain, databaseUrl })
  onEnd(() => daemon.stop())
  await waitUntilIndexed(daemon, chain, databaseUrl)
  const ours: Latency[] = []
  for (const count of PER_BLOCK)
    ours.push(await follow(chain, count, `${daemon.api}/v1/names/address`))
  await daemon.stop()
  const { rpcUrl, hub, anvil } = chain
  const loopUrl = await createDatabase(postgres.url, 'loop')
  const loop = await startLiveLoop({ rpcUrl, wsUrl: anvil.wsUrl, hub, databaseUrl: loopUrl }, home)
  onEnd(() => loop.child.end('SIGTERM', 1_000))
  const floor: Latency[] = []
  for (const count of PER_BLOCK) floor.push(await follow(chain, count, loop.url))
  report(ours, floor)
}

/** Mines blocks and asks for each one's last registration until it is there. @returns the time that takes */
async function follow(chain: BenchChain, count: number, base: string): Promise<Latency> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const delays: number[] = []
  for (let block = -WARM_UP; block < blocks; block++) {
    const startedMs = performance.now()
    const last = await chain.mineBids(count)
    const minedMs = performance.now()
    const url = `${base}/${walletOf(last)}`
    while (!(await isThere(agent, url))) {
      if (performance.now() - minedMs > GIVE_UP_MS)
        throw new Error(`asking ${url}: not there in ${GIVE_UP_MS} ms`)
      await sleep(POLL_MS)
    }
    if (block >= 0) delays.push(performance.now() - minedMs)
    await sleep(Math.max(0, BLOCK_MS - (performance.now() - startedMs)))
  }
  agent.destroy()
  return latencyOf(delays)
}

function report(ours: readonly Latency[], floor: readonly Latency[]): void {
  console.log(`\nFrom a block to its answer over HTTP, ${blocks} blocks of ${BLOCK_MS} ms each`)
  const row = (title: string, { p50, p99 }: Latency) => [title, p50.toFixed(1), p99.toFixed(1)]
  printTable([
    ['', 'p50 ms', 'p99 ms'],
    ...PER_BLOCK.flatMap((count, i) => [
      row(`clusterd start, ${count} a block`, ours[i]!),
      row(`bare follower, ${count} a block`, floor[i]!),
    ]),
  ])
  for (const [i, count] of PER_BLOCK.entries())
    for (const of of ['p50', 'p99'] as const) {
      const ratios = [ours[i]![of] / floor[i]![of]]
      recordFigure({ title: `live, ${count} a block, ${of}`, floor: 'bare follower', ratios })
    }
}

function isThere(agent: Agent, url: string): Promise<boolean> {
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
