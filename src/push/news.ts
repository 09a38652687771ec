import { eventOfPayload } from '../db/pg/notify.js'
import { NETWORKS, type Network } from '../registry/primitives/network.js'

/** Tells who waits that a network's tables, or a chain's head, have changed. */
export class News {
  readonly #told: Record<Network, Set<() => void>> = { mainnet: new Set(), testnet: new Set() }

  /** Takes the payload of a notification. */
  readonly onNotify = (payload: string): void => {
    for (const network of NETWORKS)
      if (eventOfPayload(network, payload)) for (const tell of this.#told[network]) tell()
  }

  /** Calls the function at each change of a network. @returns function that ends it */
  on(network: Network, tell: () => void): () => void {
    this.#told[network].add(tell)
    return () => void this.#told[network].delete(tell)
  }
}
