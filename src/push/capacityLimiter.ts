/**
 * Maximum numbers for one client and for the whole process: of long-lived requests, or of bytes that the requests use.
 */
export interface CapacityLimits {
  perClient: number
  total: number
}

/** Capacity (number of requests, or of bytes) that one client uses. */
interface ClientUsage {
  count: number
  /** Functions that end requests of the client in favour of another client, oldest request first. */
  readonly ends: Set<() => void>
}

/** Limits the capacity that long-lived requests use: one place for each request, or for each of its bytes. */
export class CapacityLimiter {
  readonly #bounds: CapacityLimits
  readonly #usageByClient = new Map<string, ClientUsage>()
  #taken = 0

  constructor(bounds: CapacityLimits) {
    this.#bounds = bounds
  }

  get taken(): number {
    return this.#taken
  }

  /**
   * Takes places for a request. If too few of the process's places are free and there is an `end`, other requests are
   * ended: each time the newest one of the client with the most places, while that client has more places than this
   * client would have.
   * @param end ends this request, when its places go to another client. Absent: this request also ends no other request
   * @returns function that frees the places; or the limit that is reached
   */
  take(client: string, count = 1, end?: () => void): (() => void) | 'perClient' | 'total' {
    const held = this.#usageByClient.get(client)?.count ?? 0
    if (held + count > this.#bounds.perClient) return 'perClient'
    while (this.#taken + count > this.#bounds.total)
      if (!end || !this.#endNewestRequest(held + count)) return 'total'
    const taken = this.#usageByClient.get(client) ?? { count: 0, ends: new Set() }
    this.#usageByClient.set(client, taken)
    taken.count += count
    this.#taken += count
    let isHeld = true
    const free = (): void => {
      if (!isHeld) return
      isHeld = false
      taken.ends.delete(leave)
      this.#taken -= count
      taken.count -= count
      if (taken.count === 0) this.#usageByClient.delete(client)
    }
    const leave = (): void => {
      free()
      end?.()
    }
    if (end) taken.ends.add(leave)
    return free
  }

  /**
   * Ends the newest request of the client that holds the most places.
   * @returns false where no client holds more than `most`, or that client has no request that may be ended
   */
  #endNewestRequest(most: number): boolean {
    let first: ClientUsage | undefined
    for (const taken of this.#usageByClient.values())
      if (taken.count > (first?.count ?? most)) first = taken
    const newest = first && [...first.ends].at(-1)
    newest?.()
    return newest !== undefined
  }
}
