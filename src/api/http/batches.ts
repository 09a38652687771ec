import { setTimeout } from 'node:timers/promises'
import DataLoader from 'dataloader'
import type pg from 'pg'
import { type AnswerVersions, readAnswerVersions } from '../../db/journal/head.js'
import { findJournalled, readProgress } from '../../db/journal/transactions.js'
import {
  findByAddresses,
  findByNames,
  findByTypes,
  readAvailability,
} from '../../db/registry/lookups.js'
import type { FullName } from '../../registry/primitives/name.js'
import type { Network } from '../../registry/primitives/network.js'

/** More in a statement save nothing, and would delay those that came first. */
const MAX_TOGETHER = 64

/** Time after which the next statement waits for the last one no longer. */
const PATIENCE_MS = 10

export type Batches = ReturnType<typeof createBatches>

/**
 * Creates the look-ups of a network. Those that arrive while a statement of their kind is under way share the next one,
 * so it is PostgreSQL's round trips that load decides and not their number. Nothing is remembered.
 */
export function createBatches(pool: pg.Pool, network: Network) {
  const version = together<Network, AnswerVersions>(async (asked) => {
    const read = await readAnswerVersions(pool, network)
    return asked.map(() => read)
  })
  return {
    nameOf: together((addresses: readonly Buffer[]) => findByAddresses(pool, network, addresses)),
    walletOf: together((names: readonly FullName[]) => findByNames(pool, network, names)),
    /** Verified public wallet of a kind that a cluster alone stands for. */
    verifiedOf: together((asked: readonly { cluster: string; stored: string }[]) =>
      findByTypes(pool, network, asked),
    ),
    availabilityOf: together((names: readonly string[]) => readAvailability(pool, network, names)),
    /** Journalled bids of a transaction by its hash. */
    journalled: together((hashes: readonly Buffer[]) => findJournalled(pool, network, hashes)),
    /** Progress of a transaction, by its hash or signature. */
    progressOf: together((txs: readonly Buffer[]) => readProgress(pool, network, txs)),
    /** The version of what public answers are made of. */
    version: () => version(network),
  }
}

/** Groups reads of a kind: one is under way; later ones join the next, a turn after it. */
function together<Key, Value>(
  read: (keys: readonly Key[]) => Promise<Value[]>,
): (key: Key) => Promise<Value> {
  let underWay: Promise<unknown> = Promise.resolve()
  const loader = new DataLoader<Key, Value>(
    (keys) => {
      const found = read(keys)
      underWay = Promise.race([found.catch(() => {}), setTimeout(PATIENCE_MS)])
      return found
    },
    {
      cache: false,
      maxBatchSize: MAX_TOGETHER,
      batchScheduleFn: (begin) => void underWay.then(() => setImmediate(setImmediate, begin)),
    },
  )
  return (key) => loader.load(key)
}
