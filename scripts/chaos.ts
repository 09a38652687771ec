/**
 * `npm run chaos -- --seed S --minutes M`: a local world with injected faults; docs/measure/chaos.md lists
 * faults and invariants. `--seeds 1-10` runs several seeds, one after the other; `--deep` adds a reorg beyond the
 * confirmation depth, the halt, and a rewind. Exit code 1 where an invariant is broken.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { allBreaches, ChaosError, describeRun, runChaos } from '../test/chaos/lib/run.js'
import { startBuiltPrograms } from '../test/setup/built.js'

const USAGE = `usage: npm run chaos -- [options]
  --seed <n>       of one run (default random)
  --seeds <n>-<n>  first and last seed of several runs, one after the other
  --minutes <n>    of each run (default 3)
  --deep           with a reorg beyond the confirmation depth, the halt, and a rewind
  --verbose        with the events of the run`

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string', default: '3' },
    deep: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

/** Seeds of the runs, in order. Empty where the options name none. */
function seedsOf(): number[] {
  const range = values.seeds ?? values.seed ?? String(Math.floor(Math.random() * 1e6))
  const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? []
  if (first === undefined) return []
  const length = Math.max(0, Number(last) - Number(first) + 1)
  return Array.from({ length }, (_, i) => Number(first) + i)
}
const seeds = seedsOf()
const minutes = Number(values.minutes)
if (values.help || seeds.length === 0 || !(minutes > 0)) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}

startBuiltPrograms('chaos')

let broken = 0
/** Writes the daemon's log of a failed seed to a file. */
function keep(seed: number, daemonLog: string): void {
  broken += 1
  const file = `chaos-${seed}.log`
  writeFileSync(file, daemonLog)
  console.log(`the daemon's log is in ${file}`)
}

let world: { stop(): Promise<void> } | null = null
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    await world?.stop()
    process.exit(1)
  })

for (const seed of seeds) {
  const started = performance.now()
  const log = (line: string) =>
    console.log(`${((performance.now() - started) / 1_000).toFixed(1).padStart(6)} s  ${line}`)
  const options = {
    seed,
    runMs: minutes * 60_000,
    deep: values.deep,
    onWorld: (started: { stop(): Promise<void> }) => {
      world = started
    },
  }
  try {
    const report = await runChaos({ ...options, ...(values.verbose ? { log } : {}) })
    console.log(`${describeRun(report)}\n`)
    if (allBreaches(report).length > 0) keep(seed, report.daemonLog)
  } catch (error) {
    if (!(error instanceof ChaosError)) throw error
    console.log(`${error.message}\n`)
    keep(seed, error.daemonLog)
  }
}
process.exit(broken > 0 ? 1 : 0)
