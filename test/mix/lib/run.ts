import type pg from 'pg'
import { createPool } from '../../../src/db/pg/pool.js'
import { waitForCondition } from '../../../src/testing/processes/processes.js'
import { compare, compareMirror } from './compare.js'
import { describeFault, type Fault, Faults } from './faults.js'
import { rest, resume } from './stillness.js'
import { Traffic } from './traffic.js'
import { openWallets, runWriters } from './writers.js'
import { type MixWorld, startMixWorld } from './world.js'

/** Time of requests beside changes, after which the world stands still and answers are compared, ms. */
const STORM_MS = 15_000
/** Longest time until every request, a registration and a reorg have come, ms. */
const LONGER_MS = 120_000

export interface MixOptions {
  seed: number
  /** Time of all rounds. The start of the world comes on top. */
  runMs: number
  /** False to leave out requests of more than a megabyte, each of which takes seconds. */
  hasLongest: boolean
  log?: (line: string) => void
  /** Called with the world as soon as there is something to stop. */
  onWorld?: (world: Pick<MixWorld, 'stop'>) => void
}

export interface MixReport extends Pick<MixOptions, 'seed' | 'runMs' | 'hasLongest'> {
  rounds: number
  /** Number of requests beside changes, by status. 0: the client left. */
  statuses: Readonly<Record<string, number>>
  /** Number of answers that were compared with those of the quiet process. */
  compared: number
  /** Numbers of changes, and of refused ones by status and code. */
  changes: Readonly<Record<string, number>>
  /** Number of answers with a 5xx that the route declares. */
  declared: Readonly<Record<string, number>>
  faults: readonly Fault[]
}

/** Runs a seed: a world, and rounds of requests beside changes, each followed by a comparison. */
export async function runMix(options: MixOptions): Promise<MixReport> {
  const { log = () => {}, onWorld } = options
  const world = await startMixWorld(log)
  onWorld?.(world)
  const pool = createPool({ url: world.stack.databaseUrl, max: 2, applicationName: 'mix' })
  try {
    return await runRounds(world, pool, { ...options, log })
  } finally {
    await pool.end()
    await world.stop()
  }
}

async function runRounds(
  world: MixWorld,
  pool: pg.Pool,
  { seed, runMs, hasLongest, log }: MixOptions & { log: (line: string) => void },
): Promise<MixReport> {
  const faults = new Faults(world)
  const traffic = new Traffic(world, faults, { seed, hasLongest })
  const wallets = await openWallets(world)
  const changes: Record<string, number> = {}
  let compared = 0
  let rounds = 0
  const endMs = performance.now() + runMs
  do {
    const over = new AbortController()
    const writers = runWriters(world, wallets, seed + rounds * 1_000_003, over.signal)
    const sending = traffic.send(over.signal)
    const stormEndMs = performance.now() + Math.min(STORM_MS, runMs / 2)
    const isEnough = () =>
      faults.isFull ||
      (performance.now() > stormEndMs &&
        traffic.hasSentAll &&
        (writers.counts.registrations ?? 0) > 0 &&
        (writers.counts.reorgs ?? 0) > 0)
    const hasAll = await waitForCondition(async () => isEnough(), LONGER_MS, 50)
    over.abort()
    await Promise.all([sending, writers.done])
    if (!hasAll) throw new Error(`seed ${seed}: ${describeCounts(writers.counts)} is not enough`)
    for (const [what, n] of Object.entries(writers.counts)) changes[what] = (changes[what] ?? 0) + n
    await rest(world, pool)
    log('the world stands still')
    compared += await compare(world, pool, faults, traffic)
    await compareMirror(world, faults)
    rounds += 1
    log(
      `round ${rounds}: ${traffic.sent} requests, ${compared} answers compared, ${faults.list.length} faults`,
    )
    await resume(world)
  } while (performance.now() < endMs && !faults.isFull)
  return {
    seed,
    runMs,
    hasLongest,
    rounds,
    statuses: traffic.statuses,
    compared,
    changes,
    declared: faults.declared,
    faults: faults.list,
  }
}

const describeCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([what, n]) => `${n} ${what}`)
    .join(', ') || 'none'

/** The report in a few lines, with what is needed to run it again. */
export function describeMix(report: MixReport): string {
  const { seed, runMs, hasLongest, rounds, statuses, compared, changes, declared, faults } = report
  const quick = hasLongest ? '' : ' --quick'
  const again = `npm run mix -- --seed ${seed} --seconds ${runMs / 1_000}${quick}`
  const found = faults.map((fault, i) => `${i + 1}.  ${describeFault(fault)}`)
  return [
    `seed ${seed}, ${rounds} rounds; requests by status: ${describeCounts(statuses)}; ${compared} answers compared`,
    `changes: ${describeCounts(changes)}`,
    `declared failures: ${describeCounts(declared)}`,
    faults.length === 0 ? 'no fault' : `${faults.length} FAULTS (again: ${again})`,
    ...found,
  ].join('\n')
}
