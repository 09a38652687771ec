import { setMaxListeners } from 'node:events'
import { parseNotificationPayload } from '../db/pg/notify.js'
import { fallbackOnExpectedError, isInternalError } from '../ops/logger/errors.js'
import { createLoopWaker } from '../ops/waiting.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'

/** Interval at which a wait reads again without a notification, in case a notification was lost, ms. */
const POLL_INTERVAL_MS = 5_000

/** Notifies listeners in this process that a network's tables, or the head of one of its chains, have changed. */
export class ChangeNotifications {
  readonly #listeners: Record<Network, Set<() => void>> = { mainnet: new Set(), testnet: new Set() }
  readonly #ended = new AbortController()

  constructor() {
    // 0 turns off Node's warning about many listeners: each wait without a signal of its own adds one to this signal
    setMaxListeners(0, this.#ended.signal)
  }

  /** Fires when `end` ends all waits. */
  get ended(): AbortSignal {
    return this.#ended.signal
  }

  /** Handler of a database notification. @param payload names the network; empty for both networks */
  readonly onNotify = (payload: string): void => {
    for (const network of NETWORKS)
      if (parseNotificationPayload(network, payload)) this.#notify(network)
  }

  /** Calls the listener at each change of a network. @returns function that removes the listener */
  on(network: Network, listener: () => void): () => void {
    this.#listeners[network].add(listener)
    return () => void this.#listeners[network].delete(listener)
  }

  /**
   * Reads immediately, then after each change of the network and every `POLL_INTERVAL_MS`, until a read has a result.
   * A change that is notified during a read causes another read, so no change is missed. A read that fails, as while
   * the database is unavailable, counts as no result.
   * @param read returns null for no result
   * @returns null where the signal or `end` ended the wait
   * @throws errors of our own code
   */
  async waitFor<T>(
    network: Network,
    read: () => Promise<T | null>,
    signal: AbortSignal = this.ended,
  ): Promise<T | null> {
    const changed = createLoopWaker()
    const leave = this.on(network, changed.notify)
    try {
      while (!signal.aborted && !this.ended.aborted) {
        const result = await fallbackOnExpectedError(
          read(),
          (error) => !isInternalError(error),
          null,
        )
        if (result !== null) return result
        await changed.wait(POLL_INTERVAL_MS, signal)
      }
      return null
    } finally {
      leave()
    }
  }

  /** Ends all waits. A wait that begins later returns null without a read. */
  end(): void {
    this.#ended.abort()
    for (const network of NETWORKS) this.#notify(network)
  }

  #notify(network: Network): void {
    for (const listener of this.#listeners[network]) listener()
  }
}
