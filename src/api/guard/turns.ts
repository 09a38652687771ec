import PQueue, { type Queue, type QueueAddOptions } from 'p-queue'
import { ApiError } from '../http/errors.js'

/** Concurrency of signed changes: one holds the journal's lock while the next two send their first statements. */
const AT_ONCE = 3
/** Waiting changes of a network from which others are refused: more than are made before the first ends its wait. */
const MAX_WAITING = 1_000
/** Waiting changes of a wallet from which its others are refused. */
export const MAX_WAITING_PER_WALLET = 32

interface Waiting {
  id: string | undefined
  run: () => Promise<unknown>
}
interface TurnOptions extends QueueAddOptions {
  /** Whose turn it is, as hex. */
  wallet?: string
}

/** Waiting changes by wallet, in the order of the turns. */
class FairQueue implements Queue<Waiting['run'], TurnOptions> {
  readonly #waiting = new Map<string, Waiting[]>()
  size = 0

  enqueue(run: Waiting['run'], { id, wallet = '' }: TurnOptions = {}): void {
    const own = this.#waiting.get(wallet)
    if (own) own.push({ id, run })
    else this.#waiting.set(wallet, [{ id, run }])
    this.size++
  }

  /** Takes the next wallet's first change, and puts the wallet behind the others. */
  dequeue(): Waiting['run'] | undefined {
    for (const [wallet, [first, ...others]] of this.#waiting) {
      this.#waiting.delete(wallet)
      if (others.length > 0) this.#waiting.set(wallet, others)
      this.size--
      return first!.run
    }
    return undefined
  }

  remove(id: string): void {
    for (const [wallet, own] of this.#waiting) {
      const left = own.filter((waiting) => waiting.id !== id)
      this.size -= own.length - left.length
      if (left.length === 0) this.#waiting.delete(wallet)
      else if (left.length < own.length) this.#waiting.set(wallet, left)
    }
  }

  /** The waiting changes of a wallet. */
  filter({ wallet = '' }: Readonly<Partial<TurnOptions>>): Waiting['run'][] {
    return (this.#waiting.get(wallet) ?? []).map(({ run }) => run)
  }

  setPriority(): void {
    throw new Error('turns have no priorities')
  }
}

/** Turns of a network's signed changes. */
export interface Turns {
  /** Number of changes that wait. */
  waiting(): number
  /**
   * Runs a change in its wallet's turn: wallets take turns, so that the changes of one delay and refuse its own alone.
   * @param signal drops the change while it waits
   * @throws ApiError unavailable when too many wait; the signal's reason
   */
  take<T>(wallet: Uint8Array, make: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/** Creates turns. They leave connections to the reads; the journal's lock serializes changes anyway. */
export function createTurns(): Turns {
  const queue = new PQueue<FairQueue, TurnOptions>({ concurrency: AT_ONCE, queueClass: FairQueue })
  return {
    waiting: () => queue.size,
    async take(address, make, signal) {
      const wallet = Buffer.from(address).toString('hex')
      if (queue.size >= MAX_WAITING) throw new ApiError('unavailable', 'Too many changes are waiting.')
      if (queue.sizeBy({ wallet }) >= MAX_WAITING_PER_WALLET)
        throw new ApiError('unavailable', 'Too many changes of this wallet are waiting.')
      return queue.add(make, { wallet, ...(signal && { signal }) })
    },
  }
}
