/** Discrete-event simulation: a clock, queues with servers, and random times that a seed decides. Times in ms. */

interface Event {
  at: number
  /** Orders events of one time as they were made. */
  number: number
  run(): void
}

const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.number < b.number)

export class Clock {
  now = 0
  readonly #heap: Event[] = []
  #made = 0

  after(ms: number, run: () => void): void {
    const heap = this.#heap
    heap.push({ at: this.now + ms, number: this.#made++, run })
    for (let i = heap.length - 1; i > 0; ) {
      const parent = (i - 1) >> 1
      if (!isBefore(heap[i]!, heap[parent]!)) break
      ;[heap[i], heap[parent]] = [heap[parent]!, heap[i]!]
      i = parent
    }
  }

  /** Runs what happens until a time. */
  runUntil(end: number): void {
    for (let next = this.#heap[0]; next && next.at <= end; next = this.#heap[0]) {
      this.#removeFirst()
      this.now = next.at
      next.run()
    }
    this.now = end
  }

  #removeFirst(): void {
    const heap = this.#heap
    const last = heap.pop()!
    if (heap.length === 0) return
    heap[0] = last
    for (let i = 0; ; ) {
      let least = i
      for (const child of [2 * i + 1, 2 * i + 2])
        if (child < heap.length && isBefore(heap[child]!, heap[least]!)) least = child
      if (least === i) return
      ;[heap[i], heap[least]] = [heap[least]!, heap[i]!]
      i = least
    }
  }
}

/** Servers of which as many work at once as there are, for whoever came first. */
export class Servers {
  #free: number
  /** Those who wait, in order, from a place on: what was served is cut off now and then. */
  #waiting: (() => void)[] = []
  #from = 0

  constructor(readonly count: number) {
    this.#free = count
  }

  /** @param begin called with what gives the server back */
  take(begin: (giveBack: () => void) => void): void {
    if (this.#free === 0) {
      this.#waiting.push(() => begin(this.#giveBack))
      return
    }
    this.#free -= 1
    begin(this.#giveBack)
  }

  readonly #giveBack = (): void => {
    const next = this.#waiting[this.#from]
    if (!next) {
      this.#free += 1
      return
    }
    this.#from += 1
    if (this.#from > 1_000 && this.#from * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#from)
      this.#from = 0
    }
    next()
  }
}

/** Threads on a machine: work takes a thread first, then a core for its time. */
export class Station {
  readonly #threads: Servers

  constructor(
    readonly clock: Clock,
    threads: number,
    readonly machine: Servers = new Servers(threads),
  ) {
    this.#threads = new Servers(threads)
  }

  work(ms: number, done: () => void): void {
    this.#threads.take((leave) =>
      this.machine.take((free) =>
        this.clock.after(ms, () => {
          free()
          leave()
          done()
        }),
      ),
    )
  }
}

/** Random numbers from 0 to below 1, the same for a seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A time that is as long on average, exponentially distributed. */
export const exponential = (random: () => number, mean: number): number => -Math.log(1 - random()) * mean
