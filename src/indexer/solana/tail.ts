import type { Call } from '../../chains/rpc/nodes.js'
import { listTransactions, type ReadTransaction, readTransaction } from '../../chains/solana/reads.js'
import { assertLeader } from '../../db/journal/head.js'
import { replaceSeenPayments } from '../../db/payments/payments.js'
import { inTransaction } from '../../db/pg/pool.js'
import type { Payment } from '../../registry/payment/payment.js'
import { communityPayment, countedBy, namePayment, type ProgramIdentity } from './row.js'
import type { PaymentWatcherOptions } from './watcher.js'

/** Payments that are seen but not believed yet: their status is pending. */
export interface Tail {
  /**
   * Makes the stored unconfirmed payments what the cluster shows now.
   * @param listedTo the newest signature that is believed
   * @returns how many there are
   */
  step(listedTo: string | null): Promise<number>
}

/** The tail of what is not finalized; of a cluster that is believed at `confirmed` there is none. */
export function createTail(options: PaymentWatcherOptions): Tail {
  const { pool, rpc, registrar, identity, chain, commitment, epoch } = options
  const nowMs = options.nowMs ?? Date.now
  /** What was read of the tail, by signature. */
  let seen = new Map<string, ReadTransaction>()
  /** The message ids that are stored; null until they were written once. */
  let stored: string | null = null

  const read = async (call: Call, listedTo: string | null): Promise<ReadTransaction[]> => {
    const downToSlot = options.startSlot
    const list = { commitment: 'confirmed', until: listedTo, downToSlot } as const
    const { listed } = await listTransactions(call, registrar, list)
    const txs = await Promise.all(
      listed
        .reverse()
        .map(({ signature }) => seen.get(signature) ?? readTransaction(call, registrar, signature, 'confirmed')),
    )
    // what the node lists and can't show yet comes with the next step
    return txs.filter((tx) => tx !== null)
  }

  return {
    async step(listedTo) {
      const txs = commitment === 'confirmed' ? [] : await rpc.onOneNode((call) => read(call, listedTo))
      seen = new Map(txs.map((tx) => [tx.signature, tx]))
      const payments = txs.flatMap((tx) => paymentsOf(identity, tx, nowMs()))
      const text = payments.map(({ id, tx }) => `${id.toString('hex')} ${tx.toString('hex')}`)
      if (stored === text.join()) return payments.length
      await inTransaction(pool, async (client) => {
        await assertLeader(client, identity.network, epoch)
        await replaceSeenPayments(client, { network: identity.network, chain }, payments)
      })
      stored = text.join()
      return payments.length
    },
  }
}

/** Payments of an unconfirmed transaction whose sequence it shows. */
function paymentsOf(identity: ProgramIdentity, tx: ReadTransaction, nowMs: number): Payment[] {
  const names = tx.payments.flatMap(({ sequence, ...paid }) =>
    sequence === null ? [] : [namePayment(identity, tx, { ...paid, sequence }, nowMs)],
  )
  const communityNames = tx.communityPayments.flatMap((paid) => {
    const counted = countedBy(paid, tx, undefined)
    return counted ? [communityPayment(identity, tx, { ...paid, ...counted }, nowMs)] : []
  })
  return [...names, ...communityNames]
}
