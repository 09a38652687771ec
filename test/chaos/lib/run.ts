import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { createPool } from '../../../src/db/pg/pool.js'
import { readDaemonReadiness } from '../../../src/testing/processes/daemonProcess.js'
import { waitForCondition } from '../../../src/testing/processes/processes.js'
import type { ChaosDaemon } from './daemons.js'
import { prepareFullDisk } from './databaseWeathers.js'
import { deepReorg } from './deep.js'
import { startDisruptions } from './disruptions.js'
import { createLedger } from './ledger.js'
import { runMembers } from './members.js'
import { observe, type Times, timesTooLong } from './observer.js'
import { runPayers } from './payers.js'
import { type DisruptionCounts, proxiesOf } from './site.js'
import { openSolanaStranger, runSolanaStranger } from './solanaStrangers.js'
import { type Dust, openStrangers, runStrangers } from './strangers.js'
import { judge, type Verdict } from './verdict.js'
import { openWallets, runWallets, settleWallets } from './wallets.js'
import { readSlowly, watchStatuses } from './watchers.js'
import { type ChaosWorld, startChaosWorld } from './world.js'

const SETTLE_DEADLINE_MS = 240_000
/** A run is stuck when nothing has ended for this long. Longer than any back-off of a delivery. */
const STANDSTILL_MS = 400_000
/** Longest extension of a run, as a multiple of its length. */
const LONGER = 2
/** Long enough for the blocks of funding to be confirmed before the first reorg. */
const BEFORE_DISRUPTIONS_MS = 1_500

export interface ChaosOptions {
  seed: number
  /** Time of work and disruptions, ms. Start and settling come on top. */
  runMs: number
  /** True once the purpose of the run has been met. Until then it continues, for three times its length at most. */
  isEnough?: (soFar: SoFar) => boolean
  /** True to end with a reorg deeper than the confirmation depth, the halt, and a rewind. */
  deep?: boolean
  log?: (line: string) => void
  /** Called with the world as soon as there is something to stop. */
  onWorld?: (world: Pick<ChaosWorld, 'stop'>) => void
}

/** What has been done to a world so far. */
export type SoFar = Pick<ChaosReport, 'disruptions' | 'starts'>

/** A run that could not be finished. */
export class ChaosError extends Error {
  override name = 'ChaosError'
  constructor(
    message: string,
    readonly daemonLog: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** Result of a run. */
export interface ChaosReport extends Verdict {
  seed: number
  runMs: number
  settleMs: number
  sent: Record<string, number>
  /** Number of changes to clusters by members. */
  changes: Record<string, number>
  faults: Record<string, number>
  times: Times
  /** Number of strangers' transactions by kind. */
  dust: Dust
  disruptions: DisruptionCounts
  starts: number
  failpoints: Record<string, number>
  /** Last status of the daemons, and the end of their logs. */
  daemonLog: string
  isDeep: boolean
}

/** Runs one seed: a world, work and disruptions for a while, then a quiet time, then the invariants. */
export async function runChaos({
  seed,
  runMs,
  deep = false,
  isEnough = () => true,
  log = () => {},
  onWorld,
}: ChaosOptions): Promise<ChaosReport> {
  const world = await startChaosWorld(seed)
  onWorld?.(world)
  const pool = createPool({ url: world.stack.databaseUrl, max: 4, applicationName: 'chaos' })
  try {
    return await run(world, pool, { seed, runMs, isEnough, deep, log })
  } catch (error) {
    throw new ChaosError(`seed ${seed}: ${(error as Error).message}`, logsOf(world), {
      cause: error,
    })
  } finally {
    await pool.end()
    await world.stop()
  }
}

async function run(
  world: ChaosWorld,
  pool: pg.Pool,
  { seed, runMs, isEnough, deep, log }: Required<Omit<ChaosOptions, 'onWorld'>>,
): Promise<ChaosReport> {
  const { daemons, apis } = world
  const ledger = createLedger()
  const over = new AbortController()
  const watching = new AbortController()
  const observing = new AbortController()
  const wallets = await openWallets(world, seed)
  const strangers = await openStrangers(world, seed)
  const { solana } = world
  const solanaStranger = solana && (await openSolanaStranger(solana, seed))
  const dust: Dust = {}
  await prepareFullDisk(pool)
  await sleep(BEFORE_DISRUPTIONS_MS)
  const statuses = watchStatuses(apis, ledger, seed, watching.signal)
  const feed = readSlowly(apis, watching.signal)
  const working = Promise.all([
    runWallets(world, wallets, ledger, seed, over.signal),
    runPayers(world, ledger, seed, over.signal),
    runStrangers(strangers, seed, over.signal, dust),
    solanaStranger &&
      runSolanaStranger(solana, solanaStranger, ledger, { seed, signal: over.signal, dust }),
  ])
  const members = runMembers(apis, wallets, seed, over.signal)
  const observer = observe(daemons, pool, observing.signal, log)
  const disruptions = startDisruptions(
    { world, ledger, seed, signal: over.signal },
    observer,
    runMs,
    log,
  )
  const soFar = (): SoFar => ({ disruptions: disruptions.counts, starts: startsOf(world) })
  await sleep(runMs)
  await waitForCondition(() => isEnough(soFar()), LONGER * runMs)
  over.abort()
  await Promise.all([working, members.done, disruptions.done])
  observing.abort()
  await observer.done

  const startedMs = performance.now()
  for (const daemon of daemons) daemon.release()
  await settle(world, pool, () => settleWallets(world, wallets, ledger, SETTLE_DEADLINE_MS), log)
  watching.abort()
  await Promise.all([statuses.done, feed.done])
  const settleMs = performance.now() - startedMs
  const verdict = await judge(world, pool, ledger, { statuses, feed, secrets: members.secrets })
  const breaches = [...verdict.breaches]
  if (deep) {
    breaches.push(...(await deepReorg(world, wallets, ledger, seed, log)))
    await settle(world, pool, () => settleWallets(world, wallets, ledger, SETTLE_DEADLINE_MS), log)
    const after = await judge(world, pool, ledger, null)
    breaches.push(...after.breaches.map((breach) => `after the rewind: ${breach}`))
  }
  return {
    ...verdict,
    breaches,
    isDeep: deep,
    seed,
    runMs,
    settleMs,
    sent: ledger.counts(),
    changes: members.counts,
    faults: faultsOf(world),
    disruptions: disruptions.counts,
    times: observer.times(),
    dust,
    starts: startsOf(world),
    failpoints: sumOf(daemons.map(({ failpoints }) => failpoints)),
    daemonLog: [...(await Promise.all(daemons.map(statusText))), logsOf(world)].join('\n'),
  }
}

/** What a daemon reports about itself, its loops included. */
const statusText = async ({ name, ops }: ChaosDaemon): Promise<string> =>
  `daemon ${name} ${await fetch(`${ops}/status`).then((answer) => answer.text(), String)}`

const startsOf = ({ daemons }: ChaosWorld): number =>
  daemons.reduce((sum, { starts }) => sum + starts, 0)

const logsOf = ({ daemons }: ChaosWorld): string =>
  daemons.map(({ name, process }) => `daemon ${name}\n${process.logs()}`).join('\n')

const sumOf = (counts: readonly Readonly<Record<string, number>>[]): Record<string, number> => {
  const sum: Record<string, number> = {}
  for (const [what, n] of counts.flatMap((one) => Object.entries(one)))
    sum[what] = (sum[what] ?? 0) + n
  return sum
}

/** Waits until one of the daemons is ready. */
async function untilReady({ daemons }: ChaosWorld): Promise<void> {
  let problems: string[] = []
  const isReady = async () => {
    const answers = await Promise.all(daemons.map(({ ops }) => readDaemonReadiness(ops)))
    problems = answers.flatMap((answer) => answer.problems)
    return answers.some(({ ready }) => ready)
  }
  if (!(await waitForCondition(isReady, SETTLE_DEADLINE_MS, 250)))
    throw new Error(`no daemon is ready: ${problems.join('; ')}`)
}

/** Waits until nothing is pending. The verdict reports what is still pending at the limit. */
async function settle(
  world: ChaosWorld,
  pool: pg.Pool,
  settleSenders: () => Promise<void>,
  log: (line: string) => void,
): Promise<void> {
  const { hub } = world
  await settleSenders()
  log('the senders are done')
  await untilReady(world)
  // until the newest transactions are confirmed; then their messages are delivered
  const target = (await hub.reader.getBlockNumber()) + 4n
  while ((await hub.reader.getBlockNumber()) < target) await sleep(100)
  await untilReady(world)
  log('ready')
  let quietSince: number | null = null
  let least = Number.POSITIVE_INFINITY
  let movedMs = performance.now()
  while (performance.now() - movedMs < STANDSTILL_MS) {
    const { rows } = await pool.query<Record<string, number>>(
      `SELECT (SELECT count(*) FROM messages WHERE NOT settled OR NOT confirmed)::int AS messages,
              (SELECT count(*) FROM jobs WHERE state < 4)::int AS jobs,
              (SELECT count(*) FROM payments WHERE state < 2)::int AS payments,
              (SELECT count(*) FROM facts)::int AS facts`,
    )
    const open = Object.values(rows[0]!).reduce((sum, n) => sum + n, 0)
    if (open < least) {
      least = open
      movedMs = performance.now()
      log(`open: ${JSON.stringify(rows[0])}`)
    }
    if (open > 0) quietSince = null
    else quietSince ??= performance.now()
    // gauges of jobs are updated every five seconds
    if (quietSince !== null && performance.now() - quietSince > 6_000) return
    await sleep(250)
  }
  log('not everything has settled')
}

const faultsOf = (world: ChaosWorld): Record<string, number> =>
  sumOf(proxiesOf(world).map((proxy) => proxy.counts()))

/** Take-overs, look-ups and memory of a run. */
function describeTimes({ takeOvers, lookUpGapMs, residentBytes }: Times): string {
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`
  const each = Object.entries(takeOvers).map(
    ([cause, { count, maxMs }]) => `${count} after ${cause} in ${seconds(maxMs)}`,
  )
  const memory = `${Math.round(residentBytes / 2 ** 20)} MiB at the end`
  return `take-overs (most): ${each.join(', ') || 'none'}; longest without a look-up ${seconds(lookUpGapMs)}; ${memory}`
}

/** Broken invariants, and times that are too long. */
export const allBreaches = ({ breaches, times }: ChaosReport): string[] => [
  ...breaches,
  ...timesTooLong(times),
]

/** The report in a few lines. */
export function describeRun(report: ChaosReport): string {
  const list = (counts: Record<string, number>) =>
    Object.entries(counts)
      .filter(([, n]) => n > 0)
      .map(([what, n]) => `${n} ${what}`)
      .join(', ') || 'none'
  const broken = allBreaches(report)
  return [
    `seed ${report.seed}, ${Math.round(report.runMs / 1_000)} s and ${Math.round(report.settleMs / 1_000)} s to settle`,
    `faults: ${list(report.faults)}`,
    `disruptions: ${list(report.disruptions)}; ${report.starts} starts of the daemons`,
    describeTimes(report.times),
    `strangers: ${list(report.dust)}`,
    `died at fail points: ${list(report.failpoints)}`,
    `sent: ${list(report.sent)}; ${report.bids} bids on the hub, ${report.names} names won, ${report.messages} messages of spokes and ${report.payments} payments on Solana, ${report.purchases} for names below the community; changes of clusters: ${list(report.changes)}`,
    `${report.entries} journal entries, ${report.events} events; statuses: ${list(report.statuses)}`,
    broken.length === 0
      ? 'no breach'
      : `${broken.length} BREACHES (again: npm run chaos -- --seed ${report.seed} --minutes ${report.runMs / 60_000}${report.isDeep ? ' --deep' : ''})\n${broken.map((breach) => `  ${breach}`).join('\n')}`,
  ].join('\n')
}
