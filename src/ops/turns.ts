import { setImmediate } from 'node:timers/promises'
import { FairQueue } from './fairQueue.js'

/**
 * Waits for a place and holds it until the event loop's next iteration, in which the caller's part runs.
 * @throws where the client no longer waits for the work
 */
export type WaitForEventLoopTurn = () => Promise<void>

/**
 * Number of elements that `mapWithoutBlocking` maps in one part: about half a millisecond. An iteration of the event
 * loop runs up to two parts, of different requests. A look-up takes several iterations, so larger parts would delay
 * it.
 */
const ELEMENTS_PER_PART = 32

/**
 * Maximum number of waiting pieces of work. After a change of the journal, all long polls of a process read again at
 * the same time, each with up to eight statements.
 */
export const MAX_WAITING_EXPENSIVE_WORK = 16_000

/**
 * Queue of this process for work that costs more than a look-up, without signed changes and witness submissions, which
 * have queues per network. Each piece is one database statement, or one part of a computation. Two at once leave the
 * event loop, the other connections and the database's processors to look-ups: with three, the median
 * look-up of `npm run siege` takes a quarter longer.
 */
export const expensiveWorkQueue = new FairQueue({ atOnce: 2, waiting: MAX_WAITING_EXPENSIVE_WORK })

/**
 * Waits for a place in the queue and holds it until the event loop's next iteration. The caller's part runs then, so at
 * most two parts begin in an iteration.
 * @param address of the client, empty where there is none
 * @param check throws where nobody waits for the work any more
 */
export const waitForEventLoopTurn = (address: string, check = (): void => {}): Promise<void> =>
  expensiveWorkQueue.run(address, () => {
    check()
    return setImmediate()
  })

/** Maps elements by slow work such as signatures, `atOnce` at a time. Between these parts other requests are served. */
export async function mapInTurns<T, U>(
  waitForLoop: WaitForEventLoopTurn,
  items: readonly T[],
  map: (item: T) => Promise<U>,
  atOnce: number,
): Promise<U[]> {
  const mapped: U[] = []
  for (let i = 0; i < items.length; i += atOnce) {
    await waitForLoop()
    mapped.push(...(await Promise.all(items.slice(i, i + atOnce).map(map))))
  }
  return mapped
}

/** Maps many elements in parts, between which the process serves other requests. */
export async function mapWithoutBlocking<T, U>(
  waitForLoop: WaitForEventLoopTurn,
  items: readonly T[],
  map: (item: T, index: number) => U,
  atOnce = ELEMENTS_PER_PART,
): Promise<U[]> {
  const mapped: U[] = []
  for (const [i, item] of items.entries()) {
    if (i % atOnce === 0 && items.length > atOnce) await waitForLoop()
    mapped.push(map(item, i))
  }
  return mapped
}
