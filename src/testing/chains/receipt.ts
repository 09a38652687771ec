import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Hex,
  type PublicClient,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from 'viem'

const RECEIPT_DEADLINE_MS = 60_000
const RECEIPT_POLL_MS = 25

/**
 * Polls for a transaction's receipt. viem's own wait polls once a block: if a node has the block before the receipt,
 * viem waits for the next block, which never comes on a chain that mines on demand.
 * @param mine mines a block of a chain that does not mine automatically; called after each look-up without a receipt
 * @throws TransactionReceiptNotFoundError after a minute
 */
export async function waitForReceipt(
  client: Pick<PublicClient, 'getTransactionReceipt'>,
  hash: Hex,
  mine?: () => Promise<unknown>,
): Promise<TransactionReceipt> {
  const end = performance.now() + RECEIPT_DEADLINE_MS
  for (;;) {
    try {
      return await client.getTransactionReceipt({ hash })
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError) || performance.now() > end)
        throw error
    }
    await (mine ? mine() : sleep(RECEIPT_POLL_MS))
  }
}
