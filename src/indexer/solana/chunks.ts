import type { ListedTransaction, ReadTransaction } from '../../chains/solana/reads.js'
import { measure } from '../progress.js'
import { readConfirmed } from './twoNodes.js'
import type { PaymentWatcherOptions } from './types.js'

/** Transactions of one database transaction: two batches of a node. */
const CHUNK = 200
/** Chunks that are read ahead of the writer: bounds memory, hides the round trips. */
const CHUNKS_AHEAD = 2

/** Writes some transactions. */
export type WriteChunk = (txs: readonly ReadTransaction[]) => Promise<void>

/**
 * Reads listed transactions in order, the next chunks while one is written; stops between two when the signal fires.
 */
export async function inChunks(
  options: PaymentWatcherOptions,
  listed: readonly ListedTransaction[],
  write: WriteChunk,
): Promise<void> {
  const { identity, label, signal, onProgress } = options
  const startedMs = Date.now()
  const ahead: Promise<ReadTransaction[]>[] = []
  let requested = 0
  let registrations = 0
  for (let done = 0; done < listed.length && !signal.aborted; done += CHUNK) {
    while (ahead.length < CHUNKS_AHEAD && requested < listed.length) {
      const some = listed.slice(requested, requested + CHUNK)
      const chunk = readConfirmed(options, some)
      // awaited in its turn; until then a failure is not unhandled
      chunk.catch(() => {})
      ahead.push(chunk)
      requested += CHUNK
    }
    const txs = await ahead.shift()!
    await write(txs)
    registrations += txs.reduce((sum, tx) => sum + tx.payments.length + tx.communityPayments.length, 0)
    const counts = { doneBlocks: Math.min(listed.length, done + CHUNK), totalBlocks: listed.length, registrations }
    onProgress?.(measure({ network: identity.network, label, unit: 'transactions', ...counts }, startedMs))
  }
}
