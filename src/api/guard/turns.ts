import PQueue from 'p-queue'
import { ApiError } from '../http/errors.js'

/** Signed changes at once: one holds the journal's lock, two send their first statements. */
const AT_ONCE = 3
/** Waiting changes of a network; more are refused: the first of them ends its wait before their turn. */
const MAX_WAITING = 1_000
/** Waiting changes of a wallet from which its others are refused. */
export const MAX_WAITING_PER_WALLET = 32

/** Turns of a network's signed changes. */
export type Turns = ReturnType<typeof createTurns>

/**
 * Creates turns: wallets take them in rounds, so that the changes of one delay and refuse its own alone. They leave
 * connections to the reads; the journal's lock serializes changes anyway.
 */
export function createTurns() {
  const queue = new PQueue({ concurrency: AT_ONCE })
  /** Waiting changes of each wallet, and the round of its last one. */
  const waiting = new Map<string, { count: number; round: number }>()
  let round = 0
  return {
    /** Number of changes that wait. */
    waiting: (): number => queue.size,
    /**
     * Runs a change in its wallet's turn.
     * @param signal drops the change while it waits
     * @throws ApiError unavailable when too many wait; the signal's reason
     */
    async take<T>(address: Uint8Array, make: () => Promise<T>, signal?: AbortSignal): Promise<T> {
      signal?.throwIfAborted()
      const wallet = Buffer.from(address).toString('hex')
      const own = waiting.get(wallet) ?? { count: 0, round: 0 }
      if (queue.size >= MAX_WAITING)
        throw new ApiError('unavailable', 'Too many changes are waiting.')
      if (own.count >= MAX_WAITING_PER_WALLET)
        throw new ApiError('unavailable', 'Too many changes of this wallet are waiting.')
      own.count += 1
      own.round = Math.max(round, own.round) + 1
      waiting.set(wallet, own)
      const turn = own.round
      const leave = () => {
        own.count -= 1
        if (own.count === 0) waiting.delete(wallet)
      }
      // the queue would give the turn of a change that is being made to the next one
      const dropped = new AbortController()
      const drop = () => dropped.abort(signal?.reason)
      signal?.addEventListener('abort', drop)
      let hasBegun = false
      const begin = () => {
        signal?.removeEventListener('abort', drop)
        hasBegun = true
        round = Math.max(round, turn)
        leave()
        return make()
      }
      try {
        return await queue.add(begin, { priority: -turn, signal: dropped.signal })
      } finally {
        signal?.removeEventListener('abort', drop)
        if (!hasBegun) leave()
      }
    },
  }
}
