import { parseNotificationPayload } from '../db/pg/notify.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'

/** Notifies listeners in this process that a network's tables, or the head of one of its chains, have changed. */
export class ChangeNotifications {
  readonly #listeners: Record<Network, Set<() => void>> = { mainnet: new Set(), testnet: new Set() }

  /** Handler of a database notification. @param payload names the network */
  readonly onNotify = (payload: string): void => {
    for (const network of NETWORKS)
      if (parseNotificationPayload(network, payload))
        for (const listener of this.#listeners[network]) listener()
  }

  /** Calls the function at each change of a network. @returns function that unsubscribes it */
  on(network: Network, listener: () => void): () => void {
    this.#listeners[network].add(listener)
    return () => void this.#listeners[network].delete(listener)
  }
}
