/**
 * `npm run bench:idle`: the cost of a daemon that only follows the seven chains of a local world, with a block a second
 * each, beside a bare process that asks as many nodes for their heads as often.
 */
import { spawn } from 'node:child_process'
import { parseArgs } from 'node:util'
import { useBuiltPrograms } from '../src/testing/processes/programs.js'
import { startStack } from '../src/testing/stack.js'
import { type Bench, cpuMs, median, peakMemoryKib, printTable, runBench } from './bench/bench.js'
import { byRun, recordFigure } from './bench/figure.js'
import { buildDaemon } from './bench/programs.js'

const BLOCK_MS = 1_000
/**
 * Time after the start in which the daemon still loads modules, collects garbage and closes connections of the start.
 */
const SETTLE_MS = 35_000
const TITLE = { daemon: 'clusterd start', floor: 'heads asked for' }

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '30' }, runs: { type: 'string', default: '3' } },
})
const seconds = Number(values.seconds)
const runs = Number(values.runs)
if (!(seconds >= 5 && runs >= 1)) {
  console.log(
    'usage: npm run bench:idle [-- --seconds <n>, at least 5, default 30] [--runs <n>, default 3]',
  )
  process.exit(2)
}

/** Source of the bare program: asks nodes for their newest blocks at intervals, over kept-alive connections. */
const FLOOR = `const { Agent, request } = require('node:http')
const agent = new Agent({ keepAlive: true })
const headers = { 'content-type': 'application/json' }
for (const [url, method] of JSON.parse(process.argv[1])) setInterval(() => {
  const asked = request(url, { method: 'POST', agent, headers }, async (answer) => {
    let text = ''
    for await (const part of answer) text += part
    JSON.parse(text)
  })
  asked.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] }))
}, ${BLOCK_MS})`

async function main(bench: Bench): Promise<void> {
  const cli = await buildDaemon(bench.onEnd)
  useBuiltPrograms(async (program) => cli.replace(/cli\.js$/, `${program}.js`))
  const stack = await startStack({ blockMs: BLOCK_MS })
  bench.onEnd(() => stack.stop())
  const nodes = Object.values(stack.networks).flatMap(({ hub, spokes, solana }) => [
    ...[hub, ...spokes].map(({ rpcUrl }) => [rpcUrl, 'eth_blockNumber']),
    ...(solana ? [[solana.rpcUrl, 'getSlot']] : []),
  ])
  const floor = spawn(process.execPath, ['-e', FLOOR, JSON.stringify(nodes)], { stdio: 'inherit' })
  bench.onEnd(async () => floor.kill())
  const pids = { daemon: stack.daemon.pid, floor: floor.pid! }
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  const shares = { daemon: [] as number[], floor: [] as number[] }
  for (let run = 1; run <= runs; run++) {
    const before = {
      daemon: cpuMs([pids.daemon]),
      floor: cpuMs([pids.floor]),
      ms: performance.now(),
    }
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000))
    const ms = performance.now() - before.ms
    for (const who of ['daemon', 'floor'] as const)
      shares[who].push((cpuMs([pids[who]]) - before[who]) / ms)
  }
  console.log(`idle on ${nodes.length} chains, ${runs} times ${seconds} s`)
  printTable([
    ['', '% of a core', 'peak MiB'],
    ...(['daemon', 'floor'] as const).map((who) => [
      ...[TITLE[who], (median(shares[who]) * 100).toFixed(2)],
      (peakMemoryKib(pids[who]) / 1_024).toFixed(0),
    ]),
  ])
  recordFigure({
    title: 'idle on seven chains',
    floor: TITLE.floor,
    measure: 'processor',
    ratios: byRun(shares.daemon, shares.floor),
  })
}

await runBench(main)
