import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { integerBetween, pickElement } from '../../../src/testing/faultProxy/random.js'
import { identifyProcess, waitForCondition } from '../../../src/testing/processes/processes.js'
import type { ChaosDaemon } from './daemons.js'
import { A_YEAR_AHEAD } from './databaseWeathers.js'
import { reorgNewest } from './ledger.js'
import { count, outage, rest, type Site, strike, type Weather, withOne } from './site.js'
import { bringBack } from './wallets.js'

/** Stops processes (SIGSTOP): alive for the kernel, silent for all others. @returns a function that continues them */
function freeze(pids: readonly number[]): () => void {
  // the start time distinguishes a process from a later one with the same id
  const stopped = pids.map((pid) => ({ pid, startedAt: identifyProcess(pid)?.startedAt }))
  for (const { pid } of stopped) signal(pid, 'SIGSTOP')
  return () => {
    for (const { pid, startedAt } of stopped)
      if (identifyProcess(pid)?.startedAt === startedAt) signal(pid, 'SIGCONT')
  }
}

/** A process and its children. Empty where the system has no /proc. */
function familyOf(pid: number): number[] {
  try {
    const all = readdirSync('/proc').map(Number)
    return [pid, ...all.filter((one) => identifyProcess(one)?.parentPid === pid)]
  } catch {
    return []
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // it has ended meanwhile
  }
}

/** Long enough for a start, a take-over and some steps. */
const FAIL_POINT_DEADLINE_MS = 9_000
/** More blocks than the indexer follows one by one. */
const SLEEP_BLOCKS = 100
const REORG_BLOCKS = 2
/** Time in which a started daemon serves look-ups again. */
const START_MS = 8_000
/** Fail points of a world that has caught up. test/recovery covers the fail points of the backfill. */
const FAIL_POINTS = [
  'follow.before_transaction',
  'follow.after_commit',
  'follow.before_commit',
  'relay.queued',
  'relay.sign',
  'relay.signed',
  'relay.broadcast',
  'relay.sent',
  'relay.included',
  'relay.reorged',
  'relay.confirmed',
  'payout.queued',
  'payout.sign',
  'payout.broadcast',
  'payout.sent',
  'solana.before_commit',
  'solana.after_commit',
]

/** Kills a daemon and waits until it runs again. */
async function killOnce(site: Site, daemon: ChaosDaemon): Promise<void> {
  await strike(site, daemon, 'kill', async () => {
    const { starts } = daemon
    daemon.kill()
    count(site, 'kills')
    await waitForCondition(() => daemon.starts > starts || site.signal.aborted, START_MS)
    await rest(site, START_MS / 2, START_MS / 2)
  })
}

export const kill: Weather = (site) =>
  withOne(site, site.world.daemons, async (daemon) => {
    await killOnce(site, daemon)
    return `kill -9 of ${daemon.name}`
  })

/** Kills a daemon, which then dies at a fail point, and then kills the other, so that the first takes the lead. */
export const killAtFailPoint: Weather = (site) =>
  withOne(site, site.world.daemons, async (daemon) => {
    const point = `${pickElement(site.next(), FAIL_POINTS)}:${integerBetween(site.next(), 1, 6)}`
    const deaths = () => Object.values(daemon.failpoints).reduce((sum, n) => sum + n, 0)
    const before = deaths()
    daemon.arm({ CLUSTERD_FAILPOINT: point })
    await killOnce(site, daemon)
    const others = site.world.daemons.filter((one) => one !== daemon)
    await withOne(site, others, async (other) => {
      await killOnce(site, other)
      return ''
    })
    const isDead = await waitForCondition(
      () => deaths() > before || site.signal.aborted,
      FAIL_POINT_DEADLINE_MS,
    )
    return `kill -9 of ${daemon.name}, then to die at ${point}${isDead ? '' : ', which it has not reached yet'}`
  })

export const freezeDaemon: Weather = (site) =>
  withOne(site, site.world.daemons, async (daemon) => {
    await strike(site, daemon, 'freeze', async () => {
      const thaw = freeze([daemon.process.pid])
      count(site, 'frozen daemons')
      await outage(site)
      thaw()
    })
    return `${daemon.name} was frozen`
  })

/** Freezes the server with all its processes, or only one connection's process with its locks. */
export const freezePostgres: Weather = (site) =>
  withOne(site, [site.world.stack.postgres!], async (postgres) => {
    const [parent, ...children] = familyOf(postgres.pid)
    const isWhole = site.next() < 0.7 || children.length === 0
    const thaw = freeze(isWhole ? [parent!, ...children] : [pickElement(site.next(), children)])
    count(site, isWhole ? 'frozen databases' : 'frozen connections')
    await outage(site)
    thaw()
    return isWhole ? 'PostgreSQL was frozen' : 'a process of PostgreSQL was frozen'
  })

export const killPostgres: Weather = (site) =>
  withOne(site, [site.world.stack.postgres!], async (postgres) => {
    await postgres.kill()
    count(site, 'kills of PostgreSQL')
    await rest(site, 100, 1_200)
    await postgres.restart()
    return 'PostgreSQL killed and started again'
  })

/** Freezes a chain's node. Nothing else may be done to its chain meanwhile, since the test uses the same node. */
export const freezeNode: Weather = (site) =>
  withOne(site, site.world.chains, async (chain) => {
    const thaw = freeze([site.world.stack.anvils[chain.label]!.pid])
    count(site, 'frozen nodes')
    await outage(site)
    thaw()
    await sleep(0)
    return `the node of ${chain.label} was frozen`
  })

/** Freezes the node of Solana, if there is one. */
export const freezeSolana: Weather = (site) => {
  const { solana } = site.world
  if (!solana) return Promise.resolve('no node of Solana')
  return withOne(site, [solana], async ({ pid }) => {
    const thaw = freeze([pid])
    count(site, 'frozen nodes of Solana')
    await outage(site)
    thaw()
    return 'the node of Solana was frozen'
  })
}

/** Kills a daemon, whose next run has a clock that is a year ahead. The run after that has the right time again. */
export const clockAhead: Weather = (site) =>
  withOne(site, site.world.daemons, async (daemon) => {
    daemon.arm(A_YEAR_AHEAD)
    await killOnce(site, daemon)
    count(site, 'clocks a year ahead')
    // answers as usual, and neither takes nor keeps a lead
    await strike(site, daemon, 'clock', () => outage(site))
    await killOnce(site, daemon)
    return `the clock of ${daemon.name} was a year ahead`
  })

/** Freezes both daemons while a chain loses its newest blocks and gets a hundred others. */
export const longSleep: Weather = (site) => {
  const { world, ledger, seed, busy } = site
  if (world.daemons.some((daemon) => busy.has(daemon))) return null
  return withOne(site, world.chains, async (chain) => {
    for (const daemon of world.daemons) busy.add(daemon)
    const thaw = freeze(world.daemons.map(({ process }) => process.pid))
    for (const daemon of world.daemons) site.observer.struck(daemon, 'freeze')
    const lost = await reorgNewest(chain, REORG_BLOCKS, ledger)
    await chain.miner.paused(() => chain.test.mine({ blocks: SLEEP_BLOCKS }))
    await bringBack(chain, lost, seed)
    thaw()
    for (const daemon of world.daemons) {
      site.observer.well(daemon)
      busy.delete(daemon)
    }
    count(site, 'sleeps of 100 blocks')
    return `both daemons slept for ${SLEEP_BLOCKS} blocks of ${chain.label}, ${lost.length} transactions taken back`
  })
}
