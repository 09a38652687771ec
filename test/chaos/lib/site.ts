import { setTimeout as sleep } from 'node:timers/promises'
import { integerBetween, pickElement } from '../../../src/testing/faultProxy/random.js'
import type { FaultyNode } from '../../support/faultyNode/faultyNode.js'
import type { ChaosDaemon } from './daemons.js'
import type { Ledger } from './ledger.js'
import type { Cause, Observer } from './observer.js'
import type { ChaosWorld } from './world.js'

/** Number of disruptions of a world by kind. */
export type DisruptionCounts = Record<string, number>

/** What disruptions share. They may overlap, but no two disrupt the same part at once. */
export interface Site {
  readonly world: ChaosWorld
  readonly ledger: Ledger
  readonly observer: Observer
  readonly seed: number
  /** Random numbers, in the order of the disruptions. */
  readonly next: () => number
  /** Ends the run: disruptions then end at once. */
  readonly signal: AbortSignal
  readonly counts: DisruptionCounts
  /** Longest outage, ms. */
  readonly longestMs: number
  readonly busy: Set<object>
}

/** Starts a disruption. It resolves with a log line once everything is restored. Null where it can't start. */
export type Weather = (site: Site) => Promise<string> | null

export const count = ({ counts }: Site, kind: string, by = 1): void => {
  counts[kind] = (counts[kind] ?? 0) + by
}

/** Waits for a random time in a range, at most until the end of the run. */
export async function rest({ next, signal }: Site, minMs: number, maxMs: number): Promise<void> {
  await sleep(integerBetween(next(), minMs, maxMs), undefined, { signal }).catch(() => {})
}

/** Waits for the time of an outage: between two seconds and the run's longest. */
export const outage = (site: Site): Promise<void> =>
  rest(site, Math.min(2_000, site.longestMs), site.longestMs)

/** Takes a part that no other disruption has, while `act` runs. Null where all are taken. */
export function withOne<T extends object>(
  site: Site,
  parts: readonly T[],
  act: (part: T) => Promise<string>,
): Promise<string> | null {
  const free = parts.filter((part) => !site.busy.has(part))
  if (free.length === 0) return null
  const part = pickElement(site.next(), free)
  site.busy.add(part)
  return act(part).finally(() => site.busy.delete(part))
}

/** Disrupts a daemon until `heal`, while its take-over and look-ups are measured. */
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

export const proxiesOf = ({ chains, solana }: ChaosWorld): FaultyNode[] => [
  ...chains.flatMap((chain) => chain.proxies),
  ...(solana ? [solana.proxy] : []),
]
