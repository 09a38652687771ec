import type pg from 'pg'
import { assertIndexingLeader } from '../../db/journal/head.js'
import { movePaymentCursor, type PaymentCursor } from '../../db/payments/cursor.js'
import { writePaymentOutcomes, writePayments } from '../../db/payments/payments.js'
import { notifyNetwork } from '../../db/pg/notify.js'
import { inTransaction } from '../../db/pg/pool.js'
import type { ChainRowKey } from '../../db/pg/rows.js'
import type { LeaderContext } from '../../ops/context.js'
import { failpoint } from '../../ops/failpoint.js'
import type { Payment } from '../../registry/payment/payment.js'
import type { PaymentRows } from './check.js'

/** For writes of a program's payments: the database, the key of its chain's row, and the leader's epoch. */
interface PaymentStore extends Pick<LeaderContext, 'pool' | 'epoch'> {
  key: ChainRowKey
}

/**
 * Writes confirmed payments and outcomes, and moves the cursor, in one transaction.
 * @param to the cursor afterwards; `from` itself where it must not move: a payment is missing, or no transaction was
 * read
 * @throws LostLeadershipError; Error where another process has moved the cursor
 */
export async function storeConfirmedPayments(
  store: PaymentStore,
  { payments, outcomes }: PaymentRows,
  from: PaymentCursor,
  to: PaymentCursor,
): Promise<void> {
  const { key } = store
  failpoint('solana.before_transaction')
  await inLeaderTransaction(store, async (client) => {
    // deletes nothing: a pending payment becomes confirmed by its id, and storeUnconfirmedPayments replaces the others
    await writePayments(client, key, { isConfirmed: true, block: 0, isKnownEmpty: true }, payments)
    await writePaymentOutcomes(client, key, outcomes)
    if (to !== from) await movePaymentCursor(client, key, from, to)
    await notifyNetwork(client, key.network)
    failpoint('solana.before_commit')
  })
  failpoint('solana.after_commit')
}

/**
 * Replaces the stored unconfirmed payments, whose status is pending, by the payments that the chain shows now.
 * @throws LostLeadershipError
 */
export const storeUnconfirmedPayments = (
  store: PaymentStore,
  payments: readonly Payment[],
): Promise<void> =>
  inLeaderTransaction(store, (client) =>
    writePayments(client, store.key, { isConfirmed: false, block: 0 }, payments),
  )

const inLeaderTransaction = (
  { pool, epoch, key }: PaymentStore,
  write: (client: pg.ClientBase) => Promise<void>,
): Promise<void> =>
  inTransaction(pool, async (client) => {
    await assertIndexingLeader(client, key.network, epoch)
    await write(client)
  })
