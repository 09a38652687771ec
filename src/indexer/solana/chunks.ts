import type { ListedTransaction } from '../../chains/solana/reads.js'
import { measure } from '../progress.js'
import { type AgreedTransaction, readConfirmed } from './twoNodes.js'
import type { PaymentWatcherOptions } from './types.js'

/** Transactions of one database transaction: two batches of a node. */
const CHUNK = 200
/** Of the first one, and each next is twice as large: who lists what is not there has others asked for little of it. */
const FIRST_CHUNK = 4
/** Chunks that are read ahead of the writer: bounds memory, hides the round trips. */
const CHUNKS_AHEAD = 2

/** Writes some transactions. */
export type WriteChunk = (txs: readonly AgreedTransaction[]) => Promise<void>

/**
 * Reads listed transactions in order, the next chunks while one is written; stops between two when the signal fires.
 * @throws RpcError transient where nodes contradict each other, once all that comes before is written
 */
export async function inChunks(
  options: PaymentWatcherOptions,
  listed: readonly ListedTransaction[],
  write: WriteChunk,
): Promise<void> {
  const { identity, label, signal, onProgress } = options
  const startedMs = Date.now()
  // as many as the first chunks have; chunks that nobody has to confirm would let a list of lies grow
  const pace = { most: 2 * FIRST_CHUNK }
  const ahead: { some: readonly ListedTransaction[]; read: Promise<AgreedTransaction[]> }[] = []
  const readAhead = (some: readonly ListedTransaction[]) => {
    const read = readConfirmed(options, some, pace)
    // awaited in its turn; until then a failure is not unhandled
    read.catch(() => {})
    return { some, read }
  }
  let requested = 0
  let size = FIRST_CHUNK
  let done = 0
  let registrations = 0
  while (done < listed.length && !signal.aborted) {
    for (; ahead.length < CHUNKS_AHEAD && requested < listed.length; size = Math.min(2 * size, CHUNK)) {
      ahead.push(readAhead(listed.slice(requested, requested + size)))
      requested += size
    }
    const { some, read } = ahead.shift()!
    const txs = await read
    await write(txs)
    done += txs.length
    // of the next one two nodes say otherwise, or more would have been asked of another: it is asked for once more
    if (txs.length < some.length) ahead.unshift(readAhead(some.slice(txs.length)))
    registrations += txs.reduce((sum, tx) => sum + tx.payments.length + tx.communityPayments.length, 0)
    const counts = { doneBlocks: done, totalBlocks: listed.length, registrations }
    onProgress?.(measure({ network: identity.network, label, unit: 'transactions', ...counts }, startedMs))
  }
}
