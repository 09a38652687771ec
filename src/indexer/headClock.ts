const SAMPLES = 32

/**
 * Estimates the usual time between a chain's blocks: their median, so that one stall or one wrong head does not change
 * the estimate.
 */
export class BlockTimeEstimator {
  #last: { number: number; timestampMs: number } | null = null
  readonly #blockMs: number[] = []

  see(head: { number: number; timestampMs: number }): void {
    const last = this.#last
    this.#last = head
    if (!last || head.number <= last.number || head.timestampMs < last.timestampMs) return
    this.#blockMs.push((head.timestampMs - last.timestampMs) / (head.number - last.number))
    if (this.#blockMs.length > SAMPLES) this.#blockMs.shift()
  }

  /** Time of the newest head, Unix ms. Null before the first head. */
  get headMs(): number | null {
    return this.#last?.timestampMs ?? null
  }

  /** Usual time between blocks, ms. Null before the second head. */
  get blockMs(): number | null {
    return this.#blockMs.toSorted((a, b) => a - b)[this.#blockMs.length >> 1] ?? null
  }
}
