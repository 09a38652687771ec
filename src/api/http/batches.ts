import DataLoader from 'dataloader'
import type pg from 'pg'
import { readVersion, type Version } from '../../db/journal/head.js'
import { findJournalled, type JournalledTx, readProgress, type TxProgress } from '../../db/journal/transactions.js'
import { type Availability, readAvailability } from '../../db/registry/lookups.js'
import { type AddressHit, findByAddresses, findByNames, type NameHit } from '../../db/registry/lookups.js'
import type { FullName } from '../../registry/primitives/name.js'
import type { Network } from '../../registry/primitives/network.js'

/** More in a statement save nothing, and would delay those that came first. */
const MAX_TOGETHER = 64

/** Time after which the next statement waits for the last one no longer. */
const PATIENCE_MS = 10

/**
 * Look-ups of single things on a network. Those that arrive while a statement of their kind is under way share the
 * next one, so that it is PostgreSQL's round trips that load decides and not their number. Nothing is remembered.
 */
export interface Batches {
  nameOf(address: Buffer): Promise<AddressHit | null>
  walletOf(name: FullName): Promise<NameHit | null>
  availabilityOf(name: string): Promise<Availability>
  /** Journalled bids of a transaction by its hash. */
  journalled(hash: Buffer): Promise<JournalledTx | null>
  /** Progress of a transaction, by its hash or signature. */
  progressOf(tx: Buffer): Promise<TxProgress>
  /** The version of what public answers are made of. */
  version(): Promise<Version>
}

/** Creates the look-ups of a network. */
export function createBatches(pool: pg.Pool, network: Network): Batches {
  const version = together<Network, Version>(async (asked) => {
    const read = await readVersion(pool, network)
    return asked.map(() => read)
  })
  return {
    nameOf: together((addresses) => findByAddresses(pool, network, addresses)),
    walletOf: together((names) => findByNames(pool, network, names)),
    availabilityOf: together((names) => readAvailability(pool, network, names)),
    journalled: together((hashes) => findJournalled(pool, network, hashes)),
    progressOf: together((txs) => readProgress(pool, network, txs)),
    version: () => version(network),
  }
}

/**
 * Paces reads of a kind, so that one is under way and what comes meanwhile joins the next.
 * @returns begins a read, and tells when the next may begin
 */
function createPace() {
  let isUnderWay = false
  let next: (() => void) | null = null
  const goOn = () => {
    isUnderWay = false
    const begin = next
    next = null
    if (begin) setImmediate(begin)
  }
  return {
    async run<T>(read: () => Promise<T>): Promise<T> {
      isUnderWay = true
      const timer = setTimeout(goOn, PATIENCE_MS)
      try {
        return await read()
      } finally {
        clearTimeout(timer)
        goOn()
      }
    },
    /** Calls `begin` when the read under way has ended and its answers are written, once what came by then was read. */
    whenFree(begin: () => void): void {
      if (isUnderWay && next === null) next = begin
      else setImmediate(begin)
    },
  }
}

function together<Key, Value>(read: (keys: readonly Key[]) => Promise<Value[]>): (key: Key) => Promise<Value> {
  const pace = createPace()
  const loader = new DataLoader<Key, Value>((keys) => pace.run(() => read(keys)), {
    ...{ cache: false, maxBatchSize: MAX_TOGETHER },
    batchScheduleFn: pace.whenFree,
  })
  return (key) => loader.load(key)
}
