import { setTimeout as sleep } from 'node:timers/promises'
import { between, pick } from '../../../src/testing/faultProxy/random.js'
import type { FaultProxy } from '../../../src/testing/index.js'
import type { ChaosDaemon } from './daemons.js'
import type { Ledger } from './ledger.js'
import type { Cause, Observer } from './observer.js'
import type { ChaosWorld } from './world.js'

/** Counts of what was done to a world, by kind. */
export type DisruptionCounts = Record<string, number>

/** What disruptions share: they overlap, but no two of them have the same part in hand. */
export interface Site {
  readonly world: ChaosWorld
  readonly ledger: Ledger
  readonly observer: Observer
  readonly seed: number
  /** Random numbers, in the order of the disruptions. */
  readonly next: () => number
  /** Ends the run: what is wrong then is put right at once. */
  readonly signal: AbortSignal
  readonly counts: DisruptionCounts
  /** Longest outage, milliseconds. */
  readonly longestMs: number
  readonly busy: Set<object>
}

/** A disruption that has begun; it settles with a line for the log once all is whole again. */
export type Weather = (site: Site) => Promise<string> | null

export const count = ({ counts }: Site, kind: string, by = 1): void => {
  counts[kind] = (counts[kind] ?? 0) + by
}

/** Waits for a time out of a range, at most until the end of the run. */
export async function rest({ next, signal }: Site, minMs: number, maxMs: number): Promise<void> {
  await sleep(between(next(), minMs, maxMs), undefined, { signal }).catch(() => {})
}

/** An outage's time: two seconds to the run's longest. */
export const outage = (site: Site): Promise<void> =>
  rest(site, Math.min(2_000, site.longestMs), site.longestMs)

/** Takes one of the parts that nothing else has in hand, for as long as `act` runs; null where all are taken. */
export function withOne<T extends object>(
  site: Site,
  parts: readonly T[],
  act: (part: T) => Promise<string>,
): Promise<string> | null {
  const free = parts.filter((part) => !site.busy.has(part))
  if (free.length === 0) return null
  const part = pick(site.next(), free)
  site.busy.add(part)
  return act(part).finally(() => site.busy.delete(part))
}

/** Does something to a daemon until `heal`, while its take-over and look-ups are watched. */
export async function strike(
  { observer }: Site,
  daemon: ChaosDaemon,
  cause: Cause,
  act: () => Promise<void>,
): Promise<void> {
  observer.struck(daemon, cause)
  try {
    await act()
  } finally {
    observer.well(daemon)
  }
}

export const proxiesOf = ({ chains, solana }: ChaosWorld): FaultProxy[] => [
  ...chains.flatMap((chain) => chain.proxies),
  ...(solana ? [solana.proxy] : []),
]
