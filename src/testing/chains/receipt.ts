import { type Hex, type PublicClient, type TransactionReceipt, TransactionReceiptNotFoundError } from 'viem'
import { sleep } from '../processes/processes.js'

const DEADLINE_MS = 60_000
const POLL_MS = 10

/**
 * Polls for a transaction's receipt. viem's own wait asks once per new block: where a node announces a block before it
 * has the receipt, viem waits for the next block, which never comes on a chain that mines on demand.
 * @throws TransactionReceiptNotFoundError after a minute
 */
export async function receiptOf(
  client: Pick<PublicClient, 'getTransactionReceipt'>,
  hash: Hex,
): Promise<TransactionReceipt> {
  const end = performance.now() + DEADLINE_MS
  for (;;) {
    try {
      return await client.getTransactionReceipt({ hash })
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError) || performance.now() > end) throw error
    }
    await sleep(POLL_MS)
  }
}
