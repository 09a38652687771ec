import { setTimeout } from 'node:timers/promises'
import DataLoader from 'dataloader'
import type pg from 'pg'
import { type AnswerVersions, readAnswerVersions } from '../../db/journal/head.js'
import {
  findClusterWalletsOfTypes,
  findNamesOfAddresses,
  findWalletsByNames,
  readNameAvailability,
} from '../../db/registry/lookups.js'
import { findJournalledTxs } from '../../db/transactions/bids.js'
import { readTxProgress } from '../../db/transactions/transactions.js'
import type { FullName } from '../../registry/primitives/name.js'
import type { Network } from '../../registry/primitives/network.js'

/** Maximum look-ups per statement. More look-ups save nothing, and delay the first look-ups of the statement. */
const MAX_KEYS_PER_STATEMENT = 64

/** Time after which the next statement starts even if the running statement has not ended. */
const MAX_BATCH_WAIT_MS = 10

/**
 * Time from the end of a statement of several look-ups to the next statement, so that more look-ups share the next
 * statement. A client that sends one look-up after another does not wait.
 */
const GATHER_MS = 1

export type BatchedLookups = ReturnType<typeof createBatchedLookups>

/**
 * Creates the look-ups of a network. Look-ups of one kind that arrive while a statement is running share the next
 * statement, so that under load few statements serve many look-ups. Nothing is cached.
 */
export function createBatchedLookups(pool: pg.Pool, network: Network) {
  const version = createBatchedRead<Network, AnswerVersions>(async (networks) => {
    const read = await readAnswerVersions(pool, network)
    return networks.map(() => read)
  })
  return {
    nameOf: createBatchedRead((addresses: readonly Buffer[]) =>
      findNamesOfAddresses(pool, network, addresses),
    ),
    walletOf: createBatchedRead((names: readonly FullName[]) =>
      findWalletsByNames(pool, network, names),
    ),
    /**
     * A cluster's verified public wallet of a type: the wallet named `main` if it is of the type, else the oldest.
     * `stored` is the type's pattern, as in `findClusterWalletsOfTypes`.
     */
    verifiedOf: createBatchedRead((wallets: readonly { cluster: string; stored: string }[]) =>
      findClusterWalletsOfTypes(pool, network, wallets),
    ),
    availabilityOf: createBatchedRead((names: readonly string[]) =>
      readNameAvailability(pool, network, names),
    ),
    /** Bids in the journal, by transaction hash. */
    journalled: createBatchedRead((hashes: readonly Buffer[]) =>
      findJournalledTxs(pool, network, hashes),
    ),
    /** Progress of a transaction, by its hash or signature. */
    progressOf: createBatchedRead((txs: readonly Buffer[]) => readTxProgress(pool, network, txs)),
    /** Version of the public tables: two counters. Every change of the public tables raises one of the counters. */
    version: () => version(network),
  }
}

/**
 * Calls `begin` one or two turns of the event loop later. If the current turn takes more than `GATHER_MS`, as under a
 * flood, one turn is enough to gather look-ups, and a second turn would delay all of them.
 */
function callAfterCurrentTurn(begin: () => void): void {
  const startMs = performance.now()
  setImmediate(() => {
    if (performance.now() - startMs > GATHER_MS) begin()
    else setImmediate(begin)
  })
}

/**
 * Batches reads of one kind. Reads that arrive while a batch runs join the next batch. The next batch starts when the
 * running one has ended, or `GATHER_MS` after that end if the running batch has several keys. It starts after
 * `MAX_BATCH_WAIT_MS` at the latest.
 */
function createBatchedRead<Key, Value>(
  read: (keys: readonly Key[]) => Promise<Value[]>,
): (key: Key) => Promise<Value> {
  let underWay: Promise<unknown> = Promise.resolve()
  const loader = new DataLoader<Key, Value>(
    (keys) => {
      const values = read(keys)
      const gather = () => (keys.length > 1 ? setTimeout(GATHER_MS) : undefined)
      underWay = Promise.race([values.then(gather, gather), setTimeout(MAX_BATCH_WAIT_MS)])
      return values
    },
    {
      cache: false,
      maxBatchSize: MAX_KEYS_PER_STATEMENT,
      batchScheduleFn: (begin) => void underWay.then(() => callAfterCurrentTurn(begin)),
    },
  )
  return (key) => loader.load(key)
}
