/** The queue is full, and the work is the newest of the address that has most work waiting. */
export class QueueFullError extends Error {
  override name = 'QueueFullError'
}

interface Waiting {
  begin(): void
  refuse(error: QueueFullError): void
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
  readonly #lines = new Map<string, Waiting[]>()
  #running = 0
  #waiting = 0

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds
  }

  /** Number of waiting pieces of work. */
  get size(): number {
    return this.#waiting
  }

  /**
   * Runs work when the turn of its client comes. Work for which nobody waits any more keeps its turn, and should then
   * end at once.
   * @param address IP address of the client, in the form by which rate limits count it
   * @throws QueueFullError; errors of the work
   */
  async run<T>(address: string, work: () => T | Promise<T>): Promise<T> {
    if (this.#running < this.#bounds.atOnce) this.#running += 1
    else await this.#turn(address)
    try {
      return await work()
    } finally {
      this.#passOn()
    }
  }

  /** Waits until ended work passes its place on. @throws QueueFullError */
  #turn(address: string): Promise<void> {
    return new Promise((begin, refuse) => {
      const line = this.#lines.get(address) ?? []
      line.push({ begin, refuse })
      this.#lines.set(address, line)
      this.#waiting += 1
      if (this.#waiting > this.#bounds.waiting) this.#refuseNewest()
    })
  }

  /** Gives the place of ended work to the next work. */
  #passOn(): void {
    const [next] = this.#lines
    if (!next) {
      this.#running -= 1
      return
    }
    const [address, line] = next
    const first = line.shift()!
    this.#waiting -= 1
    // the address moves behind all others
    this.#lines.delete(address)
    if (line.length > 0) this.#lines.set(address, line)
    first.begin()
  }

  /** Refuses the newest work of the address with most work. Of several such addresses, the last in turn is chosen. */
  #refuseNewest(): void {
    const [address, line] = [...this.#lines].reduce((most, next) =>
      next[1].length >= most[1].length ? next : most,
    )
    const newest = line.pop()!
    this.#waiting -= 1
    if (line.length === 0) this.#lines.delete(address)
    newest.refuse(new QueueFullError('too much waits for its turn'))
  }
}
