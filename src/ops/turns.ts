import { setImmediate } from 'node:timers/promises'
import { FairQueue, type QueueClient } from './fairQueue.js'

/** Waits for the next iteration of the event loop. @throws where the client no longer waits for the work */
export type WaitForEventLoopTurn = () => Promise<void>

/** Number of elements that are mapped without a break for other requests: some ms of the slowest parsing. */
const AT_ONCE = 100

/** Number of cheap requests that run in one iteration of the event loop: about a millisecond together. */
export const CHEAP_REQUESTS_A_TURN = 8

const parts = new FairQueue({ atOnce: 1 })
const cheapParts = new FairQueue({ atOnce: CHEAP_REQUESTS_A_TURN })

/**
 * Waits until a part of long work may run. However much long work this process has, each iteration of the event loop
 * runs only one part.
 */
export const waitForEventLoopTurn = (asker: QueueClient): Promise<void> =>
  parts.run(asker, () => setImmediate())

/** Waits until a cheap request may run. An iteration of the event loop runs at most `CHEAP_REQUESTS_A_TURN` of them. */
export const waitForTurnOfCheapRequest = (asker: QueueClient): Promise<void> =>
  cheapParts.run(asker, () => setImmediate())

/** Maps many elements in parts, between which the process serves other requests. */
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
