import { setImmediate } from 'node:timers/promises'
import { type Asker, FairQueue } from './fairQueue.js'

/** Waits for a turn of the event loop. @throws where nobody waits for the work any more */
export type Turn = () => Promise<void>

/** Elements between which other requests get a turn: some ms of the dearest parsing. */
const AT_ONCE = 100

const parts = new FairQueue({ atOnce: 1 })

/**
 * Waits until a part of long work may be done. However much long work there is in this process, a turn of the event loop
 * has one part of one piece of it.
 */
export const nextTurn = (asker: Asker): Promise<void> => parts.run(asker, () => setImmediate())

/** Maps many elements without holding the process for as long as all of them take. */
export async function mapInTurns<T, U>(
  turn: Turn,
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
