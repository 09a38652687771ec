import { ApiError } from '../http/errors.js'

/** Concurrency of signed changes: one holds the journal's lock while the next two send their first statements. */
const AT_ONCE = 3
/** Waiting changes of a network from which others are refused: more than are made before the first ends its wait. */
const MAX_WAITING = 1_000
/** Waiting changes of a wallet from which its others are refused. */
export const MAX_WAITING_PER_WALLET = 32

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
  /** Beginnings of waiting changes by wallet, in the order of the turns. */
  const waiting = new Map<string, (() => void)[]>()
  let [running, size] = [0, 0]
  const keep = (wallet: string, own: (() => void)[]) => {
    if (own.length > 0) waiting.set(wallet, own)
    else waiting.delete(wallet)
  }
  /** Begins the next wallet's first change, and puts the wallet behind the others. */
  const goOn = () => {
    const [next] = waiting
    if (!next) {
      running -= 1
      return
    }
    const [wallet, [begin, ...others]] = next
    waiting.delete(wallet)
    keep(wallet, others)
    size -= 1
    begin!()
  }
  const turnOf = (wallet: string, signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const begin = () => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        keep(
          wallet,
          waiting.get(wallet)!.filter((one) => one !== begin),
        )
        size -= 1
        reject(signal!.reason)
      }
      keep(wallet, [...(waiting.get(wallet) ?? []), begin])
      size += 1
      signal?.addEventListener('abort', leave, { once: true })
    })
  return {
    waiting: () => size,
    async take(address, make, signal) {
      const wallet = Buffer.from(address).toString('hex')
      if (size >= MAX_WAITING) throw new ApiError('unavailable', 'Too many changes are waiting.')
      if ((waiting.get(wallet)?.length ?? 0) >= MAX_WAITING_PER_WALLET)
        throw new ApiError('unavailable', 'Too many changes of this wallet are waiting.')
      signal?.throwIfAborted()
      if (running === AT_ONCE) await turnOf(wallet, signal)
      else running += 1
      try {
        return await make()
      } finally {
        goOn()
      }
    },
  }
}
