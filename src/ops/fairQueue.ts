/** The client for whom work waits in a queue. */
export interface QueueClient {
  /** The client's IP address, in the form by which rate limits count it. */
  address: string
  /** Wallet, if the client has signed in. */
  wallet?: string
  /** Drops the work if it fires while the work waits. */
  signal?: AbortSignal | undefined
}

/** The queue is full, and the work is the newest of the address that has most work waiting. */
export class QueueFullError extends Error {
  override name = 'QueueFullError'
}

interface Waiting {
  begin(): void
  refuse(error: Error): void
}

/** Waiting work of one wallet, in order. */
type Line = Set<Waiting>

export interface QueueBounds {
  /** Maximum number of pieces of work that run at once. */
  atOnce: number
  /** Maximum number of waiting pieces of work. */
  waiting: number
}

/**
 * Queue in which addresses take turns, and within an address its wallets, so that a client with much work delays only
 * itself. A full queue refuses the newest work of the address with most work, as stochastic fair queueing drops
 * packets.
 */
export class FairQueue {
  readonly #bounds: QueueBounds
  /** Waiting work by address and wallet. The first wallet of the first address is next. */
  readonly #addresses = new Map<string, Map<string, Line>>()
  #underWay = 0
  #waiting = 0

  constructor(bounds: QueueBounds) {
    this.#bounds = bounds
  }

  /** Number of waiting pieces of work. */
  get size(): number {
    return this.#waiting
  }

  /** Runs work when its turn comes. @throws QueueFullError; the reason of the client's signal; errors of the work */
  async run<T>(asker: QueueClient, work: () => T | Promise<T>): Promise<T> {
    asker.signal?.throwIfAborted()
    if (this.#underWay < this.#bounds.atOnce) this.#underWay += 1
    else await this.#turn(asker)
    try {
      return await work()
    } finally {
      this.#underWay -= 1
      this.#beginNext()
    }
  }

  #turn({ address, wallet = '', signal }: QueueClient): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#remove(address, wallet, waiting)
        reject(signal?.reason)
      }
      const waiting = {
        begin: () => {
          signal?.removeEventListener('abort', leave)
          resolve()
        },
        refuse: (error: Error) => {
          signal?.removeEventListener('abort', leave)
          reject(error)
        },
      }
      signal?.addEventListener('abort', leave, { once: true })
      this.#add(address, wallet, waiting)
    })
  }

  #add(address: string, wallet: string, waiting: Waiting): void {
    const wallets = this.#addresses.get(address) ?? new Map<string, Line>()
    const line: Line = wallets.get(wallet) ?? new Set()
    this.#addresses.set(address, wallets.set(wallet, line.add(waiting)))
    this.#waiting += 1
    if (this.#waiting > this.#bounds.waiting) this.#refuseNewest()
  }

  #remove(address: string, wallet: string, waiting: Waiting): void {
    const wallets = this.#addresses.get(address)
    const line = wallets?.get(wallet)
    if (!wallets || !line?.delete(waiting)) return
    this.#waiting -= 1
    if (line.size === 0) wallets.delete(wallet)
    if (wallets.size === 0) this.#addresses.delete(address)
  }

  #beginNext(): void {
    const first = firstOf(this.#addresses)
    if (!first || this.#underWay >= this.#bounds.atOnce) return
    const [address, wallets] = first
    const [wallet, line] = firstOf(wallets)!
    const [waiting] = line
    // moves the address behind all addresses, and the wallet behind all wallets of the address
    wallets.delete(wallet)
    this.#addresses.delete(address)
    this.#addresses.set(address, wallets.set(wallet, line))
    this.#remove(address, wallet, waiting!)
    this.#underWay += 1
    waiting!.begin()
  }

  /**
   * Refuses the newest work: of the address with most work, the wallet with most, and there the newest. Where several
   * have equally much, the address or wallet whose turn comes last is chosen.
   */
  #refuseNewest(): void {
    const [address, wallets] = largestOf(this.#addresses, sizeOf)
    const [wallet, line] = largestOf(wallets, ({ size }) => size)
    const newest = [...line].at(-1)!
    this.#remove(address, wallet, newest)
    newest.refuse(new QueueFullError('too much waits for its turn'))
  }
}

const firstOf = <V>(map: ReadonlyMap<string, V>): [string, V] | undefined =>
  map.entries().next().value

const sizeOf = (wallets: ReadonlyMap<string, Line>): number =>
  [...wallets.values()].reduce((sum, { size }) => sum + size, 0)

function largestOf<V>(map: ReadonlyMap<string, V>, size: (value: V) => number): [string, V] {
  return [...map].reduce((most, one) => (size(one[1]) >= size(most[1]) ? one : most))
}
