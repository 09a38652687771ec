/**
 * `npm run soak -- --minutes 120`: a local world under steady light load with a fault every five minutes, and
 * samples of the daemon and its database each minute. Exit code 1 where anything grows in the last half, a look-up
 * fails outside of a fault, or a registration does not become final. docs/measure/chaos.md says what is measured.
 */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startBuiltPrograms } from '../test/setup/built.js'
import { type Bench, describeMachine, runBench } from './bench/bench.js'
import { breaches, createCourse, digits, partOf } from './soak/course.js'
import { startFaults } from './soak/faults.js'
import { createTally, startLookUps, type Tally } from './soak/lookUps.js'
import { startRegistrations } from './soak/registrations.js'
import { describeSample, printJudgements, printTenths, TENTHS } from './soak/report.js'
import { createSampler, PEEK_MS } from './soak/samples.js'
import { startSoakWorld } from './soak/world.js'

const USAGE = `usage: npm run soak -- [options]
  --minutes <n>        of the run (default 120, at least 2)
  --fault-minutes <n>  from one fault to the next (default 5, at least 0.5)`

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '120' },
    'fault-minutes': { type: 'string', default: '5' },
    help: { type: 'boolean', default: false },
  },
})
const minutes = Number(values.minutes)
const faultMinutes = Number(values['fault-minutes'])
if (values.help || !(minutes >= 2) || !(faultMinutes >= 0.5)) {
  console.log(USAGE)
  process.exit(values.help ? 0 : 2)
}

startBuiltPrograms('soak')

const MINUTE_MS = 60_000
const RUN_MS = minutes * MINUTE_MS
/** Number of readings of the memory before a sample: a minute's readings, fewer in a run of less than 100 minutes. */
const PEEKS = Math.ceil(Math.min(MINUTE_MS, RUN_MS / 100) / PEEK_MS)
/** Number of registrations that have to be final before the run begins. */
const FIRST_KEYS = 10
/** Time after the run in which the last registrations have to become final. */
const PATIENCE_MS = 2 * MINUTE_MS
const DAEMON_LOG = 'soak-daemon.log'

function log(line: string): void {
  console.log(`${new Date().toISOString().slice(11, 19)}  ${line}`)
}

async function main({ onEnd }: Bench): Promise<void> {
  const world = await startSoakWorld(onEnd)
  const { stack } = world
  log(await describeMachine(stack.databaseUrl))
  if (!world.pooler) log('there is no pgbouncer: the daemon is connected to PostgreSQL directly')
  const ended = new AbortController()
  const { signal } = ended
  onEnd(async () => ended.abort())
  const ends: string[] = []
  const endBy = (why: string): void => {
    ends.push(why)
    ended.abort()
  }
  stack.failed.then(endBy)

  const registrations = startRegistrations(stack, PATIENCE_MS, signal)
  const hasKeys = () => registrations.keys.length >= FIRST_KEYS
  while (!hasKeys() && registrations.lost() === null && !signal.aborted) await sleep(100)
  if (!hasKeys()) throw new Error(`the first registrations: ${registrations.lost() ?? ends[0]}`)

  const startedMs = performance.now()
  const passedMs = () => performance.now() - startedMs
  const faults = startFaults(
    world,
    { everyMs: faultMinutes * MINUTE_MS, runMs: RUN_MS },
    signal,
    log,
  )
  const tenths = Array.from({ length: TENTHS }, createTally)
  let ofSample: Tally = createTally()
  const lookUps = startLookUps(
    {
      api: stack.api,
      keys: registrations.keys,
      isInFault: faults.touches,
      tallies: () => [tenths[partOf(passedMs(), RUN_MS, TENTHS)]!, ofSample],
      log,
    },
    signal,
  )
  const parts = [registrations, lookUps, faults]
  for (const { done } of parts) done.catch((error: Error) => endBy(error.message))

  const course = createCourse(RUN_MS)
  const { daemon, ops, databaseUrl } = stack
  const sampler = createSampler({ pid: daemon.pid, ops, databaseUrl })
  const takeSample = async (): Promise<void> => {
    const fromMs = performance.now()
    const readings = await sampler.sample(registrations.finalized())
    readings.push({ name: 'final', kind: 'shown', value: registrations.finalized() })
    log(describeSample(readings, ofSample))
    ofSample = createTally()
    if (!faults.touches(fromMs, performance.now())) course.add(passedMs(), readings)
  }
  for (let peek = 1; passedMs() < RUN_MS && !signal.aborted; peek++) {
    const waitMs = Math.max(0, peek * PEEK_MS - passedMs())
    await sleep(waitMs, undefined, { signal }).catch(() => {})
    if (signal.aborted) break
    const reading = peek % PEEKS === 0 ? takeSample() : sampler.peek()
    await reading.catch((error: Error) => log(`no sample: ${error.message}`))
  }
  ended.abort()
  await Promise.allSettled(parts.map(({ done }) => done))

  const series = course.series()
  console.log(`\n${minutes} minutes, peaks by tenths outside of faults:`)
  printTenths(series, tenths, RUN_MS)
  console.log('\nthe last half:')
  printJudgements(series)
  const { times } = registrations
  console.log(
    `\n${registrations.finalized()} of ${registrations.sent()} registrations are final, after ${digits(times.percentile(0.5) / 1_000)} s (p50), ${digits(times.percentile(0.99) / 1_000)} s (p99)`,
  )
  const broken = breaches(series, {
    failed: lookUps.failed(),
    failure: lookUps.failure(),
    sent: registrations.sent(),
    finalized: registrations.finalized(),
    lost: registrations.lost(),
  })
  broken.push(...ends)
  for (const sentence of broken) console.log(`BROKEN: ${sentence}`)
  if (broken.length === 0) {
    console.log('flat')
    return
  }
  copyFileSync(join(stack.home, 'logs', 'daemon.log'), DAEMON_LOG)
  console.log(`the daemon's log is in ${DAEMON_LOG}`)
  process.exitCode = 1
}

await runBench(main)
