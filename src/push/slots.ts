/** Bounds of what stays for long: of one client, and of the process. */
export interface SlotBounds {
  perClient: number
  total: number
}

/** Places of requests that stay. */
export class Slots {
  readonly #bounds: SlotBounds
  readonly #of = new Map<string, number>()
  #taken = 0

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds
  }

  get taken(): number {
    return this.#taken
  }

  /** Takes a place. @returns function that frees it, called once; else the bound that is reached */
  take(client: string): (() => void) | 'perClient' | 'total' {
    const own = this.#of.get(client) ?? 0
    if (own >= this.#bounds.perClient) return 'perClient'
    if (this.#taken >= this.#bounds.total) return 'total'
    this.#of.set(client, own + 1)
    this.#taken += 1
    return () => this.#free(client)
  }

  #free(client: string): void {
    this.#taken -= 1
    const left = (this.#of.get(client) ?? 1) - 1
    if (left > 0) this.#of.set(client, left)
    else this.#of.delete(client)
  }
}
