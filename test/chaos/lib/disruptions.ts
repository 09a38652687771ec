import { setTimeout as sleep } from 'node:timers/promises'
import { integerBetween } from '../../../src/testing/faultProxy/random.js'
import { seededRandomSequence, shuffled } from '../../support/random.js'
import { fullDisk, readOnlyDatabase } from './databaseWeathers.js'
import type { Ledger } from './ledger.js'
import type { Observer } from './observer.js'
import {
  clockAhead,
  freezeDaemon,
  freezeNode,
  freezePostgres,
  freezeSolana,
  kill,
  killAtFailPoint,
  killPostgres,
  longSleep,
} from './processWeathers.js'
import { type DisruptionCounts, proxiesOf, type Site, type Weather } from './site.js'
import {
  changeFaults,
  cutNode,
  faultsFor,
  forgetDatabase,
  holdDatabase,
  lie,
  reorg,
  silenceNode,
  stallFinality,
} from './wireWeathers.js'
import type { ChaosWorld } from './world.js'

const PAUSE_MS = { min: 600, max: 2_000 }
/** Most disruptions at a time. */
const AT_ONCE = 3
const LONGEST_MS = 30_000
/** Largest share of a run that one outage may take. */
const LONGEST_SHARE = 1 / 6

const WEATHERS: readonly (readonly [share: number, weather: Weather])[] = [
  [30, reorg],
  [24, changeFaults],
  [14, lie],
  [10, cutNode],
  [6, silenceNode],
  [5, freezeNode],
  [4, freezeSolana],
  [8, kill],
  [10, killAtFailPoint],
  [7, freezeDaemon],
  [5, holdDatabase],
  [5, forgetDatabase],
  [5, killPostgres],
  [3, freezePostgres],
  [4, fullDisk],
  [4, readOnlyDatabase],
  [4, clockAhead],
  [4, longSleep],
  [4, stallFinality],
]

export interface Disruptions {
  readonly counts: DisruptionCounts
  /** Resolves after the signal, once the world has no faults any more. */
  done: Promise<void>
}

/** Disrupts the world by a seed, with several disruptions at a time, until the signal. */
export function startDisruptions(
  {
    world,
    ledger,
    seed,
    signal,
  }: { world: ChaosWorld; ledger: Ledger; seed: number; signal: AbortSignal },
  observer: Observer,
  runMs: number,
  log: (line: string) => void,
): Disruptions {
  const next = seededRandomSequence(seed, 'disruptions')
  const counts: DisruptionCounts = {}
  const longestMs = Math.min(LONGEST_MS, runMs * LONGEST_SHARE)
  const site: Site = {
    world,
    ledger,
    observer,
    seed,
    next,
    signal,
    counts,
    longestMs,
    busy: new Set(),
  }
  return { counts, done: disrupt(site, log) }
}

async function disrupt(site: Site, log: (line: string) => void): Promise<void> {
  const { next, signal, world } = site
  for (const proxy of proxiesOf(world)) proxy.set(faultsFor(world, proxy, next))
  /** Every kind once, so that a short run has them all. Later ones are drawn at random. */
  const first = shuffled(
    WEATHERS.map(([, weather]) => weather),
    next,
  )
  const running = new Set<Promise<void>>()
  while (!signal.aborted) {
    await sleep(integerBetween(next(), PAUSE_MS.min, PAUSE_MS.max), undefined, { signal }).catch(
      () => {},
    )
    if (running.size >= AT_ONCE) await Promise.race(running)
    if (signal.aborted) break
    const isFirst = first.length > 0
    const weather = first.shift() ?? drawWeather(next)
    const begun = weather(site)
    if (!begun) {
      // another disruption has its part now
      if (isFirst) first.push(weather)
      continue
    }
    const ending = begun.then(log).finally(() => running.delete(ending))
    running.add(ending)
  }
  await Promise.all(running)
  for (const proxy of proxiesOf(world)) {
    proxy.set({})
    proxy.restore()
  }
}

const TOTAL = WEATHERS.reduce((sum, [share]) => sum + share, 0)

function drawWeather(next: () => number): Weather {
  let at = next() * TOTAL
  return WEATHERS.find(([share]) => {
    at -= share
    return at < 0
  })![1]
}
