/** Length of the measured time, which is divided into `SLOT_COUNT` slots. The oldest slot is dropped as a whole. */
const MINUTE_MS = 60_000
const SLOT_COUNT = 12
const SLOT_MS = MINUTE_MS / SLOT_COUNT

/** Sums of the amounts added during the last minute, by key. Callers pass all times by the same clock, ms. */
export class LastMinuteSums<Key extends string> {
  #slots: { number: number; sums: Map<Key, number> }[] = []

  add(key: Key, amount: number, atMs: number): void {
    const number = Math.floor(atMs / SLOT_MS)
    if (this.#slots.at(-1)?.number !== number)
      this.#slots = [...this.#recent(atMs), { number, sums: new Map() }]

    const { sums } = this.#slots.at(-1)!
    sums.set(key, (sums.get(key) ?? 0) + amount)
  }

  /** Adds the length of the time from `fromMs` to `toMs` to a key, split over the slots. */
  addTime(key: Key, fromMs: number, toMs: number): void {
    let atMs = Math.max(fromMs, toMs - MINUTE_MS)
    while (atMs < toMs) {
      const endMs = Math.min(toMs, (Math.floor(atMs / SLOT_MS) + 1) * SLOT_MS)
      this.add(key, endMs - atMs, atMs)
      atMs = endMs
    }
  }

  sum(key: Key, nowMs: number): number {
    return this.#recent(nowMs).reduce((total, { sums }) => total + (sums.get(key) ?? 0), 0)
  }

  #recent(nowMs: number) {
    const oldest = Math.floor(nowMs / SLOT_MS) - SLOT_COUNT
    return this.#slots.filter(({ number }) => number > oldest)
  }
}
