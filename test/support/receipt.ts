import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Hex,
  type PublicClient,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem'
import { resendStuckTransactions } from './requeue.js'

const DEADLINE_MS = 60_000
const POLL_MS = 25
/**
 * Wait for a receipt after which the transaction is probably stuck in anvil's pool, and is sent again, ms: many block
 * times of a local chain.
 */
const REQUEUE_MS = 3_000

/**
 * Polls for a transaction's receipt. viem's own wait polls once a block: if a node has the block before the receipt,
 * viem waits for the next block, which never comes on a chain that mines on demand.
 * @throws TransactionReceiptNotFoundError after a minute
 */
export async function waitForReceipt(
  client: Pick<PublicClient, 'getTransactionReceipt' | 'request'>,
  hash: Hex,
): Promise<TransactionReceipt> {
  const end = performance.now() + DEADLINE_MS
  let requeueAt = performance.now() + REQUEUE_MS
  for (;;) {
    try {
      return await client.getTransactionReceipt({ hash })
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError) || performance.now() > end)
        throw error
    }
    if (performance.now() > requeueAt) {
      await resendStuckTransactions(client, hash)
      requeueAt += REQUEUE_MS
    }
    await sleep(POLL_MS)
  }
}
