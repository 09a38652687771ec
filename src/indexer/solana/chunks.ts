import { setTimeout as sleep } from 'node:timers/promises'
import { NodeAnswers } from '../../chains/rpc/agreement.js'
import { MissingDataError } from '../../chains/rpc/errors.js'
import { NodesDisagreeError, type RpcCall } from '../../chains/rpc/nodes.js'
import {
  assertNodeHasSlot,
  type ListedDecodedTransaction,
  type ListedTransaction,
  readListedTransaction,
  UnsupportedVersionError,
} from '../../chains/solana/reads.js'
import { measureBackfillProgress } from '../progress.js'
import type { PaymentWatcherOptions } from './types.js'

/** Number of Solana transactions that one database transaction writes. */
const CHUNK = 200
/**
 * Number of transactions that are read in parallel. Small, so that a node that hangs or limits the rate is paused
 * before the next ones are requested.
 */
const AT_ONCE = 16
/**
 * Maximum number of attempts to read a transaction, and the pause between two attempts, ms: one node may have the
 * transaction some seconds after another node.
 */
const MAX_ATTEMPTS = 5
const RETRY_MS = 500

/**
 * Reads listed transactions in order, chunk by chunk. Stops between two chunks when the signal fires.
 * @param write takes the transactions of a chunk
 * @throws NodesDisagreeError where nodes contradict each other, once all earlier transactions are written
 */
export async function readTransactionsInChunks(
  options: PaymentWatcherOptions,
  listed: readonly ListedTransaction[],
  write: (txs: readonly ListedDecodedTransaction[]) => Promise<void>,
): Promise<void> {
  const { identity, rpc, signal, onProgress } = options
  const startedMs = Date.now()
  let done = 0
  let registrations = 0
  while (done < listed.length && !signal.aborted) {
    const read = await readChunk(options, listed.slice(done, done + CHUNK))
    const txs = read.filter((tx) => tx !== null)
    await write(txs)
    done += read.length
    registrations += txs.reduce(
      (sum, tx) => sum + tx.payments.length + tx.communityPayments.length,
      0,
    )
    const counts = { doneBlocks: done, totalBlocks: listed.length, registrations }
    onProgress?.(
      measureBackfillProgress(
        { network: identity.network, label: rpc.label, unit: 'transactions', ...counts },
        startedMs,
      ),
    )
  }
}

/**
 * Reads transactions on which nodes agree, up to the first transaction on which they do not agree yet.
 * @throws the error of the first transaction, if nodes do not agree on it
 */
async function readChunk(
  options: PaymentWatcherOptions,
  some: readonly ListedTransaction[],
): Promise<(ListedDecodedTransaction | null)[]> {
  const read: (ListedDecodedTransaction | null)[] = []
  for (let i = 0; i < some.length; i += AT_ONCE) {
    for (const one of await Promise.allSettled(
      some.slice(i, i + AT_ONCE).map((tx) => agreedOn(options, tx)),
    )) {
      if (one.status === 'fulfilled') read.push(one.value)
      else if (read.length === 0) throw one.reason
      else return read
    }
  }
  return read
}

/**
 * A transaction as two nodes return it, where two are configured. Null where they do not have it, or return it only in
 * a version that clusterd does not support.
 */
async function agreedOn(
  { rpc, registrar, commitment, onUnknown }: PaymentWatcherOptions,
  listed: ListedTransaction,
): Promise<ListedDecodedTransaction | null> {
  const { signature, slot } = listed
  let unshown = new NodeAnswers<RpcCall, string>()
  const ask = async (call: RpcCall) => {
    const tx = await readListedTransaction(call, registrar, listed, commitment).catch(
      (error: Error) => {
        if (error instanceof UnsupportedVersionError) unshown.set(call, error.message)
        throw error
      },
    )
    if (rpc.size === 1 && tx?.slot !== slot)
      throw new MissingDataError(
        `getTransaction: ${signature} is listed in slot ${slot} but not there yet`,
      )
    // null counts as an answer only of a node that still has this slot
    if (tx === null) await assertNodeHasSlot(call, slot, commitment)
    return tx
  }
  for (let attempt = 1; ; attempt++) {
    unshown = new NodeAnswers()
    try {
      return await rpc.quorum(ask)
    } catch (error) {
      if (unshown.agreement(rpc.needed, () => true)) {
        onUnknown?.(signature, unshown.answers)
        return null
      }
      if (!(error instanceof NodesDisagreeError)) throw error
      if (attempt === MAX_ATTEMPTS)
        throw new NodesDisagreeError(`${error.message} about transaction ${signature}`)
    }
    await sleep(RETRY_MS)
  }
}
