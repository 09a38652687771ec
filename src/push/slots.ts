/** Limits of long-lived requests: of one client, and of the process, in places or bytes. */
export interface PlaceLimits {
  perClient: number
  total: number
}

/** Counts the places of long-lived requests. */
export class PlaceLimiter {
  readonly #bounds: PlaceLimits
  readonly #of = new Map<string, number>()
  #taken = 0

  constructor(bounds: PlaceLimits) {
    this.#bounds = bounds
  }

  get taken(): number {
    return this.#taken
  }

  /** Takes places. @returns function that frees them, to be called once; or the limit that is reached */
  take(client: string, count = 1): (() => void) | 'perClient' | 'total' {
    const own = this.#of.get(client) ?? 0
    if (own + count > this.#bounds.perClient) return 'perClient'
    if (this.#taken + count > this.#bounds.total) return 'total'
    this.#of.set(client, own + count)
    this.#taken += count
    return () => this.free(client, count)
  }

  /** Frees places that were taken. */
  free(client: string, count: number): void {
    this.#taken -= count
    const left = (this.#of.get(client) ?? count) - count
    if (left > 0) this.#of.set(client, left)
    else this.#of.delete(client)
  }
}
