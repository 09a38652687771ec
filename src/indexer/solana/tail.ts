import type { Call } from '../../chains/rpc/nodes.js'
import { listTransactions, type ReadTransaction, readTransaction } from '../../chains/solana/reads.js'
import { assertLeader } from '../../db/journal/head.js'
import { replaceTailCommunityPayments } from '../../db/payments/communityPayments.js'
import { type StoredPayment, writeTailPayments } from '../../db/payments/payments.js'
import { inTransaction } from '../../db/pg/pool.js'
import { countedBy, madePayment } from './communitySequence.js'
import { rowOf } from './row.js'
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
      const payments = txs.flatMap((tx) =>
        tx.payments.flatMap((payment, position): StoredPayment[] => {
          const { sequence } = payment
          return sequence === null ? [] : [rowOf(identity, tx, { ...payment, sequence }, position, nowMs())]
        }),
      )
      const communityPayments = txs.flatMap((tx) =>
        tx.communityPayments.flatMap((payment) => {
          const counted = countedBy(payment, tx, undefined)
          return counted ? [madePayment(identity, tx, payment, counted, nowMs())] : []
        }),
      )
      const ids: [Buffer, Buffer][] = [
        ...payments.map(({ messageId, signature }): [Buffer, Buffer] => [messageId, signature]),
        ...communityPayments.map(({ paymentId, tx }): [Buffer, Buffer] => [paymentId, tx]),
      ]
      const text = ids.map(([id, signature]) => `${id.toString('hex')} ${signature.toString('hex')}`)
      if (stored === text.join()) return ids.length
      await inTransaction(pool, async (client) => {
        await assertLeader(client, identity.network, epoch)
        await writeTailPayments(client, identity.network, chain, payments)
        await replaceTailCommunityPayments(client, identity.network, chain, communityPayments)
      })
      stored = text.join()
      return ids.length
    },
  }
}
