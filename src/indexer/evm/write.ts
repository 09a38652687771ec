import type pg from 'pg'
import type { DecodedLogs } from '../../chains/evm/decodeLogs.js'
import { confirmMessages, confirmReceipts } from '../../db/bridge/messages.js'
import { type ChainRow, type Checkpoint, moveCheckpoint } from '../../db/chains.js'
import { type AppendOptions, appendEntries } from '../../db/journal/append.js'
import { forgetConfirmedTail } from '../../db/journal/tail.js'
import { confirmCommunityPayments } from '../../db/payments/communityPayments.js'
import { notify } from '../../db/pg/notify.js'
import { failpoint } from '../../ops/failpoint.js'

/**
 * Writes what confirmed blocks brought, with the checkpoint behind them, in the caller's transaction: entries into the
 * journal, messages and payments into their tables. The head is locked first, exclusively: raising a shared lock later could deadlock
 * with another writer.
 * @param hints what a backfill knows before its turn
 * @returns the minimum in force afterwards
 * @throws LostLeadershipError
 */
export async function writeConfirmed(
  client: pg.ClientBase,
  row: ChainRow,
  epoch: number,
  { entries, received, sent, payments }: DecodedLogs,
  to: Checkpoint,
  hints: Pick<AppendOptions, 'firstIds' | 'written'> = {},
): Promise<bigint> {
  const { network, chain } = row
  const { minimumWei } = await appendEntries(client, network, entries, {
    epoch,
    writerMs: Date.now(),
    ...hints,
  })
  failpoint('index.after_append')
  await confirmReceipts(client, network, received)
  await confirmMessages(client, network, chain, sent)
  await confirmCommunityPayments(client, network, chain, payments)
  await moveCheckpoint(client, row, to)
  await forgetConfirmedTail(client, network, chain, to.nextBlock)
  if (entries.length + received.length + sent.length + payments.length > 0) await notify(client, network)
  return minimumWei
}
