import { setTimeout as sleep } from 'node:timers/promises'
import type { Hex, PublicClient, TransactionReceipt } from 'viem'
import { waitForReceipt as pollForReceipt } from '../../src/testing/chains/receipt.js'
import { resendStuckTransactions } from './requeue.js'

/**
 * Wait for a receipt after which the transaction is probably stuck in anvil's pool, and is sent again, ms: many block
 * times of a local chain.
 */
const REQUEUE_MS = 3_000
const POLL_MS = 25

/**
 * Polls for a transaction's receipt, and sends a transaction again that is stuck in anvil's pool.
 * @throws TransactionReceiptNotFoundError after a minute
 */
export function waitForReceipt(
  client: Pick<PublicClient, 'getTransactionReceipt' | 'request'>,
  hash: Hex,
): Promise<TransactionReceipt> {
  let requeueAt = performance.now() + REQUEUE_MS
  return pollForReceipt(client, hash, async () => {
    if (performance.now() > requeueAt) {
      await resendStuckTransactions(client, hash)
      requeueAt += REQUEUE_MS
    }
    await sleep(POLL_MS)
  })
}
