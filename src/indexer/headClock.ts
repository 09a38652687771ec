/** Number of recent times between blocks that are kept. */
const MAX_BLOCK_TIME_SAMPLES = 32
/** Minimum number of known times between blocks for a chain to count as regular. */
const MIN_REGULAR_SAMPLES = 8
/** Largest ratio of the usual to the shortest time between blocks at which a chain counts as regular. */
const MAX_REGULAR_RATIO = 1.25
/**
 * Longest pause between two polls of a chain's head, ms: half the time (STUCK_STEP_MS) after which it counts as stuck.
 */
const MAX_PAUSE_MS = 15_000
/**
 * Pause from a head that the socket showed to the next poll, as a multiple of the time between blocks. The socket
 * should show the next head earlier.
 */
const POLL_AFTER_SOCKET_BLOCKS = 1.5

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
    if (this.#blockMs.length > MAX_BLOCK_TIME_SAMPLES) this.#blockMs.shift()
  }

  /** Timestamp of the last head, Unix ms. Null before the first head. */
  get headMs(): number | null {
    return this.#last?.timestampMs ?? null
  }

  /** Usual time between blocks, ms. Null until a head is higher than the head before it. */
  get blockMs(): number | null {
    return this.#blockMs.toSorted((a, b) => a - b)[this.#blockMs.length >> 1] ?? null
  }

  /**
   * Shortest time between recent blocks, ms. 0 if a block may come earlier: while few times are known, if the times
   * differ, and if they are so long that blocks are probably made on demand.
   */
  get shortestBlockMs(): number {
    const shortestMs = Math.min(...this.#blockMs)
    const isRegular =
      this.#blockMs.length >= MIN_REGULAR_SAMPLES &&
      shortestMs <= MAX_PAUSE_MS &&
      this.blockMs! <= MAX_REGULAR_RATIO * shortestMs
    return isRegular ? shortestMs : 0
  }
}

/**
 * Pause before the next poll of a chain at its head, ms: until its next block can exist, then every `pollMs`.
 * @param sinceMs time since this process read the newest head
 * @param lead number of blocks by which the socket's last head is above the newest head that this process read. 0: the
 *   socket probably shows the next head too. NaN: the socket has shown no head
 */
export function headPollPauseMs(
  { shortestBlockMs }: Pick<BlockTimeEstimator, 'shortestBlockMs'>,
  { pollMs, sinceMs, lead }: { pollMs: number; sinceMs: number; lead: number },
): number {
  // the polled node is behind the socket's node
  if (lead > 0) return pollMs
  // this process may have read the head up to `pollMs` after the block was made
  const nextMs = lead === 0 ? POLL_AFTER_SOCKET_BLOCKS * shortestBlockMs : shortestBlockMs - pollMs
  return Math.max(pollMs, Math.min(MAX_PAUSE_MS, nextMs) - sinceMs)
}
