import DataLoader from 'dataloader'
import type pg from 'pg'
import { findJournalled, type JournalledTx } from '../../db/journal/transactions.js'
import { type Availability, readAvailability } from '../../db/registry/availability.js'
import { type AddressHit, findByAddresses, findByNames, type NameHit } from '../../db/registry/lookups.js'
import type { Network } from '../../registry/primitives/network.js'
import type { FullName } from '../../registry/primitives/name.js'

/** More in a statement save nothing, and would delay those that came first. */
const MAX_TOGETHER = 64

/**
 * Look-ups of single things on a network. Those that arrive in the same turn of the event loop share one statement, so
 * that it is PostgreSQL's round trips that load decides and not their number. Nothing is remembered.
 */
export interface Batches {
  nameOf(address: Buffer): Promise<AddressHit | null>
  walletOf(name: FullName): Promise<NameHit | null>
  availabilityOf(name: string): Promise<Availability>
  /** Journalled bids of a transaction by its hash. */
  journalled(hash: Buffer): Promise<JournalledTx | null>
}

/** Creates the look-ups of a network. */
export const createBatches = (pool: pg.Pool, network: Network): Batches => ({
  nameOf: together((addresses) => findByAddresses(pool, network, addresses)),
  walletOf: together((names) => findByNames(pool, network, names)),
  availabilityOf: together((names) => readAvailability(pool, network, names)),
  journalled: together((hashes) => findJournalled(pool, network, hashes)),
})

function together<Key, Value>(read: (keys: readonly Key[]) => Promise<Value[]>): (key: Key) => Promise<Value> {
  const loader = new DataLoader<Key, Value>(read, {
    ...{ cache: false, maxBatchSize: MAX_TOGETHER },
    // after the sockets of this turn were read
    batchScheduleFn: (send) => void setImmediate(send),
  })
  return (key) => loader.load(key)
}
