import { LackingError } from '../../chains/rpc/errors.js'
import type { Call } from '../../chains/rpc/nodes.js'
import { listTransactions, type ReadTransaction, readListed } from '../../chains/solana/reads.js'
import { assertLeader } from '../../db/journal/head.js'
import { writePayments } from '../../db/payments/payments.js'
import { inTransaction } from '../../db/pg/pool.js'
import { type HoldingProgram, paymentsOf } from './row.js'
import type { PaymentWatcherOptions } from './types.js'

/** Time limit of a list: of a minute's slots. */
const LIST_MS = 20_000

/**
 * Payments that are seen and not confirmed yet: their status is pending. A cluster confirmed at `confirmed` has none.
 */
export class PaymentTail {
  readonly #options: PaymentWatcherOptions
  readonly #program: HoldingProgram
  /** Ids of the stored payments; null until they were written once. */
  #stored: string | null = null

  constructor(options: PaymentWatcherOptions, program: HoldingProgram) {
    this.#options = options
    this.#program = program
  }

  /**
   * Replaces the stored unconfirmed payments by those that the cluster shows now.
   * @param listedTo the newest confirmed signature; a node that doesn't know it lists all that there is
   * @param downToSlot below it nothing is unconfirmed
   * @returns the number of payments
   */
  async step(listedTo: string | null, downToSlot: number): Promise<number> {
    const { pool, rpc, chain, commitment, epoch } = this.#options
    const { network } = this.#program
    const txs = commitment === 'confirmed' ? [] : await rpc.onOneNode((call) => this.#read(call, listedTo, downToSlot))
    const payments = txs.flatMap((tx) => paymentsOf(this.#program, tx))
    const ids = payments.map(({ id, tx }) => `${id.toString('hex')} ${tx.toString('hex')}`).join()
    if (this.#stored === ids) return payments.length
    await inTransaction(pool, async (client) => {
      await assertLeader(client, network, epoch)
      await writePayments(client, { network, chain }, { isConfirmed: false, block: 0 }, payments)
    })
    this.#stored = ids
    return payments.length
  }

  async #read(call: Call, until: string | null, downToSlot: number): Promise<ReadTransaction[]> {
    const { registrar } = this.#options
    const options = { commitment: 'confirmed', until, downToSlot, limitMs: LIST_MS } as const
    const { listed } = await listTransactions(call, registrar, options)
    const read = listed.reverse().map((one) =>
      readListed(call, registrar, one, 'confirmed').catch((error: Error) => {
        if (error instanceof LackingError) return null
        throw error
      }),
    )
    // transactions that the node lists and can't show yet come with the next step
    return (await Promise.all(read)).filter((tx) => tx !== null)
  }
}
