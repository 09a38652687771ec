import type pg from 'pg'
import type { RpcCall } from '../../chains/rpc/nodes.js'
import {
  type ListedDecodedTransaction,
  listTransactions,
  readListedTransaction,
  UnsupportedVersionError,
} from '../../chains/solana/reads.js'
import { assertIndexingLeader } from '../../db/journal/head.js'
import { writePayments } from '../../db/payments/payments.js'
import { inTransaction } from '../../db/pg/pool.js'
import { fallbackOnExpectedError } from '../../ops/log/errors.js'
import { type ProgramWithHoldingTime, storedPaymentsOf } from './row.js'
import type { PaymentWatcherOptions } from './types.js'

/** Time limit of listing the transactions in a minute's slots, ms. */
const LIST_MS = 20_000

/**
 * Creates the writer of unconfirmed payments (the tail), whose status is pending. A cluster that is read at commitment
 * `confirmed` has none.
 */
export function createUnconfirmedPaymentWriter(
  options: PaymentWatcherOptions,
  program: ProgramWithHoldingTime,
) {
  const { pool, rpc, chain, commitment, epoch, stages } = options
  /** Ids of the payments and transactions that were written last. Null before the first write. */
  let stored: string | null = null
  /**
   * Replaces the stored unconfirmed payments by the unconfirmed payments that the cluster shows now.
   * @param listedTo newest confirmed signature; a node that does not know it lists everything down to `downToSlot`
   * @param downToSlot slot below which nothing is unconfirmed
   * @returns the number of payments
   */
  return async (listedTo: string | null, downToSlot: number): Promise<number> => {
    const read = (call: RpcCall) => readTail(call, options, listedTo, downToSlot)
    const txs = commitment === 'confirmed' ? [] : await rpc.onOneNode(read)
    const payments = txs.flatMap((tx) => storedPaymentsOf(program, tx))
    const ids = payments.map(({ id, tx }) => `${id.toString('hex')} ${tx.toString('hex')}`).join()
    if (stored === ids) return payments.length
    const write = async (client: pg.ClientBase) => {
      await assertIndexingLeader(client, program.network, epoch)
      await writePayments(
        client,
        { network: program.network, chain },
        { isConfirmed: false, block: 0 },
        payments,
      )
    }
    await stages.during('database', () => inTransaction(pool, write))
    stored = ids
    return payments.length
  }
}

async function readTail(
  call: RpcCall,
  { registrar }: PaymentWatcherOptions,
  until: string | null,
  downToSlot: number,
): Promise<ListedDecodedTransaction[]> {
  const options = { commitment: 'confirmed', until, downToSlot, limitMs: LIST_MS } as const
  const { listed } = await listTransactions(call, registrar, options)
  const read = listed
    .reverse()
    .map((one) =>
      fallbackOnExpectedError(
        readListedTransaction(call, registrar, one, 'confirmed'),
        (error) => error instanceof UnsupportedVersionError,
        null,
      ),
    )
  // transactions that the node lists but does not return yet are read in the next step
  return (await Promise.all(read)).filter((tx) => tx !== null)
}
