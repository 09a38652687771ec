/** The queue is full, and the work is the newest of the busiest wallet of the address that has most work waiting. */
export class QueueFullError extends Error {
  override name = 'QueueFullError'
}

interface WaitingWork {
  begin(): void
  refuse(error: QueueFullError): void
}

interface FairQueueBounds {
  /** Maximum number of pieces of work that run at the same time. */
  atOnce: number
  /** Maximum number of waiting pieces of work. */
  waiting: number
}

/** Waiting work of one address by wallet, in order of arrival. The turn of the first wallet is next. */
type WorkByWallet = Map<string, WaitingWork[]>

/**
 * Queue in which addresses take turns, and within an address its wallets, so that a client with much work delays only
 * itself. A full queue refuses the newest work of the busiest wallet of the busiest address, as stochastic fair
 * queueing drops packets.
 */
export class FairQueue {
  readonly #bounds: FairQueueBounds
  /** Waiting work by address. The turn of the first address is next. */
  readonly #addresses = new Map<string, WorkByWallet>()
  #running = 0
  #waiting = 0

  constructor(bounds: FairQueueBounds) {
    this.#bounds = bounds
  }

  /** Number of waiting pieces of work. */
  get size(): number {
    return this.#waiting
  }

  /**
   * Runs work when the turn of its client comes. Work whose client has disconnected keeps its turn, and should then end
   * immediately.
   * @param address IP address of the client, in the form by which rate limits count it
   * @param wallet of a client that has signed in
   * @throws QueueFullError; errors of the work
   */
  async run<T>(address: string, work: () => T | Promise<T>, wallet = ''): Promise<T> {
    if (this.#running < this.#bounds.atOnce) this.#running += 1
    else await this.#waitForTurn(address, wallet)
    try {
      return await work()
    } finally {
      this.#beginNext()
    }
  }

  /** Waits in the queue until other work ends and gives this work its place. @throws QueueFullError */
  #waitForTurn(address: string, wallet: string): Promise<void> {
    return new Promise((begin, refuse) => {
      const wallets: WorkByWallet = this.#addresses.get(address) ?? new Map()
      const line = wallets.get(wallet) ?? []
      line.push({ begin, refuse })
      this.#addresses.set(address, wallets.set(wallet, line))
      this.#waiting += 1
      if (this.#waiting > this.#bounds.waiting) this.#refuseNewest()
    })
  }

  /** Gives the place of ended work to the next work. */
  #beginNext(): void {
    const [next] = this.#addresses
    if (!next) {
      this.#running -= 1
      return
    }
    const [address, wallets] = next
    const [wallet, line] = wallets.entries().next().value!
    const first = line.shift()!
    this.#waiting -= 1
    // the wallet moves behind the other wallets of its address, and the address behind the other addresses
    wallets.delete(wallet)
    if (line.length > 0) wallets.set(wallet, line)
    this.#addresses.delete(address)
    if (wallets.size > 0) this.#addresses.set(address, wallets)
    first.begin()
  }

  /**
   * Refuses the newest work of the busiest wallet of the busiest address. Among equally busy addresses or wallets, it
   * chooses the one whose turn comes last.
   */
  #refuseNewest(): void {
    const [address, wallets] = largestOf(this.#addresses, waitingWorkCount)
    const [wallet, line] = largestOf(wallets, ({ length }) => length)
    const newest = line.pop()!
    this.#waiting -= 1
    if (line.length === 0) wallets.delete(wallet)
    if (wallets.size === 0) this.#addresses.delete(address)
    newest.refuse(new QueueFullError('too much waits for its turn'))
  }
}

// the next two functions loop over the maps without copies of them: in a full queue each refusal reads up to 16,000
// addresses, and copies would take four times as long

function waitingWorkCount(wallets: WorkByWallet): number {
  let sum = 0
  for (const { length } of wallets.values()) sum += length
  return sum
}

function largestOf<V>(map: ReadonlyMap<string, V>, sizeOf: (value: V) => number): [string, V] {
  let largest: [string, V] | undefined
  let most = 0
  for (const entry of map) {
    const size = sizeOf(entry[1])
    if (size < most) continue
    largest = entry
    most = size
  }
  return largest!
}
