/**
 * `npm run chaos -- --seed S --minutes M`: a local world with injected faults; docs/measure/chaos.md lists faults and
 * invariants. `--seeds 1-10` runs several, one after the other; `--deep` adds a reorg beyond the confirmation depth,
 * the halt, and a rewind. Exit code 1 where an invariant is broken.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { allBreaches, ChaosError, describeRun, runChaos } from '../test/chaos/lib/run.js'
import { startBuiltPrograms } from '../test/setup/built.js'

startBuiltPrograms('chaos')

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string', default: '3' },
    deep: { type: 'boolean', default: false },
    verbose: { type: 'boolean', default: false },
  },
})

function seedsOf(): number[] {
  const [first, last = first] = (values.seeds ?? '').split('-').map(Number)
  if (values.seeds) return Array.from({ length: last! - first! + 1 }, (_, i) => first! + i)
  return [Number(values.seed ?? Math.floor(Math.random() * 1e6))]
}

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

for (const seed of seedsOf()) {
  const started = performance.now()
  const log = (line: string) =>
    console.log(`${((performance.now() - started) / 1_000).toFixed(1).padStart(6)} s  ${line}`)
  const options = {
    seed,
    runMs: Number(values.minutes) * 60_000,
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
