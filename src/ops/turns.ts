import { setImmediate } from 'node:timers/promises'
import { FairQueue, type QueueClient } from './fairQueue.js'

/** Waits for a turn of the event loop. @throws where nobody waits for the work any longer */
export type WaitForEventLoopTurn = () => Promise<void>

/** Elements that are mapped between two turns of other requests: some ms of the slowest parsing. */
const AT_ONCE = 100

/** Cheap pieces of work in one turn of the event loop: about a millisecond together. Each turn costs system calls. */
export const CHEAP_REQUESTS_A_TURN = 8

const parts = new FairQueue({ atOnce: 1 })
const cheapParts = new FairQueue({ atOnce: CHEAP_REQUESTS_A_TURN })

/**
 * Waits until a part of long work may run. However much long work this process has, each turn of the event loop runs
 * one part of one piece of it.
 */
export const waitForEventLoopTurn = (asker: QueueClient): Promise<void> =>
  parts.run(asker, () => setImmediate())

/** Waits until a cheap piece of work may run. Each turn of the event loop runs at most `CHEAP_REQUESTS_A_TURN`. */
export const waitForTurnOfCheapRequest = (asker: QueueClient): Promise<void> =>
  cheapParts.run(asker, () => setImmediate())

/** Maps many elements without blocking the process for the time of all of them. */
export async function mapWithoutBlocking<T, U>(
  turn: WaitForEventLoopTurn,
  items: readonly T[],
  map: (item: T, index: number) => U,
  atOnce = AT_ONCE,
): Promise<U[]> {
  const mapped: U[] = []
  for (const [i, item] of items.entries()) {
    if (i % atOnce === 0 && items.length > atOnce) await turn()
    mapped.push(map(item, i))
  }
  return mapped
}
