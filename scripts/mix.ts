/**
 * `npm run mix -- --seed S --minutes M`: every route's requests at once to one process of a world in which every state
 * occurs; docs/measure/chaos.md says what has to hold. Exit code 1 where something does not.
 */
import { parseArgs } from 'node:util'
import { describeMix, runMix } from '../test/mix/lib/run.js'
import { startBuiltPrograms } from '../test/setup/built.js'

const USAGE = `usage: npm run mix -- [options]
  --seed <n>       of the run (default random)
  --minutes <n>    of the run, after its start (default 3)
  --seconds <n>    in place of --minutes
  --quick          without requests of more than a megabyte
  --help           prints this`

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
    minutes: { type: 'string', default: '3' },
    seconds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})
const seed = Number(values.seed)
const seconds = Number(values.seconds ?? Number(values.minutes) * 60)
if (values.help || !Number.isSafeInteger(seed) || seed < 0 || !(seconds > 0)) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}

startBuiltPrograms('mix')
const startedMs = performance.now()
const log = (line: string) =>
  console.log(`${((performance.now() - startedMs) / 1_000).toFixed(1).padStart(6)} s  ${line}`)

let world: { stop(): Promise<void> } | null = null
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, async () => {
    await world?.stop()
    process.exit(1)
  })

log(`seed ${seed}`)
const report = await runMix({
  seed,
  runMs: seconds * 1_000,
  hasLongest: !values.quick,
  log,
  onWorld: (started) => {
    world = started
  },
})
console.log(describeMix(report))
process.exit(report.faults.length > 0 ? 1 : 0)
