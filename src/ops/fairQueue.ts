/** The client for whom work waits in a queue. */
export interface QueueClient {
  /** The client's IP address, in the form by which rate limits count it. */
  address: string
  /** Drops the work if it fires while the work waits. */
  signal?: AbortSignal | undefined
}

/** The queue is full, and the work is the newest of the address that has most work waiting. */
export class QueueFullError extends Error {
  override name = 'QueueFullError'
}

interface Waiting {
  begin(): void
  refuse(error: unknown): void
}

export interface QueueBounds {
  /** Maximum number of pieces of work that run at once. */
  atOnce: number
  /** Maximum number of waiting pieces of work. */
  waiting: number
}

/**
 * Queue in which addresses take turns, so that a client with much work delays only itself. A full queue refuses the
 * newest work of the address with most work, as stochastic fair queueing drops packets.
 */
export class FairQueue {
  readonly #bounds: QueueBounds
  /** Waiting work by address, in order. The first address is next. */
  readonly #lines = new Map<string, Set<Waiting>>()
  #running = 0
  #waiting = 0

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds
  }

  /** Number of waiting pieces of work. */
  get size(): number {
    return this.#waiting
  }

  /** Runs work when its turn comes. @throws QueueFullError; the reason of the client's signal; errors of the work */
  async run<T>(client: QueueClient, work: () => T | Promise<T>): Promise<T> {
    client.signal?.throwIfAborted()
    if (this.#running < this.#bounds.atOnce) this.#running += 1
    else await this.#turn(client)
    try {
      return await work()
    } finally {
      this.#passOn()
    }
  }

  /** Waits until ended work passes its place on. */
  async #turn({ address, signal }: QueueClient): Promise<void> {
    let leave = () => {}
    const turn = new Promise<void>((begin, refuse) => {
      const waiting = { begin, refuse }
      leave = () => {
        this.#remove(address, waiting)
        refuse(signal?.reason)
      }
      this.#lines.set(address, (this.#lines.get(address) ?? new Set()).add(waiting))
      this.#waiting += 1
    })
    if (this.#waiting > this.#bounds.waiting) this.#refuseNewest()
    signal?.addEventListener('abort', leave)
    await turn.finally(() => signal?.removeEventListener('abort', leave))
  }

  #remove(address: string, waiting: Waiting): void {
    const line = this.#lines.get(address)
    if (!line?.delete(waiting)) return
    this.#waiting -= 1
    if (line.size === 0) this.#lines.delete(address)
  }

  /** Gives the place of ended work to the next work. */
  #passOn(): void {
    const [next] = this.#lines
    if (!next) {
      this.#running -= 1
      return
    }
    const [address, line] = next
    const [first] = line
    // the address moves behind all others
    this.#lines.delete(address)
    this.#lines.set(address, line)
    this.#remove(address, first!)
    first!.begin()
  }

  /** Refuses the newest work of the address with most work. Of several such addresses, the last in turn is chosen. */
  #refuseNewest(): void {
    const [address, line] = [...this.#lines].reduce((most, next) =>
      next[1].size >= most[1].size ? next : most,
    )
    const newest = [...line].at(-1)!
    this.#remove(address, newest)
    newest.refuse(new QueueFullError('too much waits for its turn'))
  }
}
