const MAX_MARKS = 256

/**
 * How old what a server lacks is: the first moment at which the primary's log was seen beyond the server's. The oldest
 * places go, which are far older than what anybody bears.
 */
export class Staleness {
  /** Places of the log, ascending, each with the time at which it was first seen. */
  #marks: { lsn: bigint; atMs: number }[] = []

  /** Notes where the primary is. A place before the last one is another primary's, which begins anew. */
  note(lsn: bigint, atMs: number): void {
    const last = this.#marks.at(-1)
    if (last && lsn < last.lsn) this.#marks = []
    if (last?.lsn === lsn) return
    this.#marks.push({ lsn, atMs })
    if (this.#marks.length > MAX_MARKS) this.#marks.shift()
  }

  /** Age of the oldest that a server at this place lacks, ms; 0 where it lacks nothing. */
  of(lsn: bigint, nowMs: number): number {
    const lacked = this.#marks.find((mark) => mark.lsn > lsn)
    return lacked ? nowMs - lacked.atMs : 0
  }
}
