import { assertIndexingLeader } from '../../../src/db/journal/head.js'
import { movePaymentCursor, readPaymentCursor } from '../../../src/db/payments/cursor.js'
import { writePayments } from '../../../src/db/payments/payments.js'
import { notifyNetwork } from '../../../src/db/pg/notify.js'
import { inTransaction } from '../../../src/db/pg/pool.js'
import { initialChainState } from '../../../src/indexer/evm/types.js'
import type { IndexerCallbacks } from '../../../src/indexer/progress.js'
import type { LeaderContext } from '../../../src/ops/context.js'
import type { Worker } from '../../../src/ops/worker.js'
import type { Ledger } from './ledger.js'
import { storedPayment } from './payment.js'
import type { LedgerPayment } from './server.js'

/** Takes the ledger's payments into the database. All of its blocks are confirmed. */
export function ledgerWatcher(
  { pool, network, epoch }: LeaderContext,
  { label, chain, pollMs, ask, quoteKeys }: Ledger,
  reporting: IndexerCallbacks,
): Worker {
  const state = initialChainState({ network, label, chain, nextBlock: 1 })
  const key = { network, chain }
  reporting.onStart(label, { state })
  return {
    name: 'the ledger watcher',
    fields: { network, chain: label },
    pollMs,
    async step() {
      const { height } = await ask<{ height: number }>('/head')
      const cursor = await readPaymentCursor(pool, key, 0)
      const paid = await ask<LedgerPayment[]>(`/payments?after=${cursor.sequence}`)
      const last = paid.at(-1)
      if (last)
        await inTransaction(pool, async (client) => {
          await assertIndexingLeader(client, network, epoch)
          const payments = paid.map((one) => storedPayment(quoteKeys, one))
          await writePayments(client, key, { isConfirmed: true, block: 0 }, payments)
          const to = { ...cursor, sequence: last.sequence, slot: last.height }
          await movePaymentCursor(client, key, cursor, to)
          await notifyNetwork(client, network)
        })
      Object.assign(state, {
        latest: height,
        confirmed: height,
        tailBlock: height,
        nextBlock: height + 1,
        headMs: Date.now(),
        lastStepMs: Date.now(),
        isCaughtUp: true,
      })
      if (last) reporting.onAdvance(true)
      return last ? 'progressed' : 'waiting'
    },
  }
}
