import { ChainUnavailableError } from '../../chains/chain.js'
import { ignoreOutage } from '../../db/pg/unavailable.js'
import {
  storeInvalidVerdict,
  storeTxSighting,
  type TxSighting,
} from '../../db/transactions/transactions.js'
import {
  decideTxStatus,
  isTerminalStatus,
  type StatusAnswer,
  type TxStatusInput,
} from '../../registry/status.js'
import type { Context } from '../http/context.js'
import type { Trouble } from './trouble.js'

/**
 * Asks chains for a transaction, and returns the answer of the first chain in order that has the transaction. If no
 * chain has it, the state is `unknown`, and `chain` is the first chain that was asked.
 * @throws ChainUnavailableError where no chain has the transaction and one of the chains did not answer, and where no
 * chain is configured
 */
export async function findTransactionOnChains<Port, Tx extends { state: string }>(
  chains: readonly Port[],
  ask: (chain: Port) => Promise<Tx>,
): Promise<{ chain: Port; seen: Tx | { state: 'unknown' } }> {
  const answers = await Promise.allSettled(chains.map(ask))
  for (const [i, answer] of answers.entries())
    if (answer.status === 'fulfilled' && answer.value.state !== 'unknown')
      return { chain: chains[i]!, seen: answer.value }
  const failed = answers.find((answer) => answer.status === 'rejected')
  if (failed) throw failed.reason
  if (!chains[0]) throw new ChainUnavailableError('no chain of this network is configured')
  return { chain: chains[0], seen: { state: 'unknown' } }
}

/**
 * Stores a sighting of a transaction: that a chain has returned it. The reason of an invalid transaction is stored too.
 * An outage of the database is ignored for a status that may still change. A final status must not be answered before
 * it is stored, so the outage is thrown.
 */
export async function storeSeenTxStatus(
  { context, tx }: TxStatusQuery,
  sighting: TxSighting,
  { status, reason }: StatusAnswer,
): Promise<void> {
  const { pool, network } = context
  const stored = storeTxSighting(pool, network, tx, sighting)
  if (!isTerminalStatus(status)) return ignoreOutage(stored)
  await stored
  if (reason) await storeInvalidVerdict(pool, network, tx, reason)
}

/** Data of a transaction in addition to its status. */
export interface TxDetails {
  /** Network label of the transaction's chain. */
  network?: string | undefined
  /** The bidder, once it has won a name. Until then the wallet may be private. */
  sender?: string
  /**
   * Sum of the transaction's bids on the hub, in wei (`token` is `native`), or of its payments in the first payment's
   * token, in that token's smallest unit. Payments in other tokens are not counted. Absent for messages.
   */
  paid?: { token: string; amount: string }
}

/** The status of a transaction, in the order of the response's fields after `tx`. */
export interface TxStatus extends StatusAnswer, TxDetails {
  /** Another transaction that used this transaction's nonce. The status is that transaction's. */
  replacedBy?: string
  /** Block or slot of the transaction `tx` on its chain. */
  block?: number
  /** Hub block of the transaction `hubTx`. */
  hubBlock?: number
  updatedAt?: string
  trouble?: Trouble
  /** True if a chain has the transaction, and our tables have no record of it. Not a field of responses. */
  isOfStranger?: true
}

/** True if our tables have no record of the transaction, so that its status comes from calls of chains. */
export const isFromChains = ({ status, isOfStranger }: TxStatus): boolean =>
  status === 'not_found' || isOfStranger === true

export interface TxStatusQuery {
  context: Context
  /** Hash or signature of the transaction, raw bytes. */
  tx: Buffer
}

/** Decides a transaction's status. Inputs that are left out count as empty or unknown. */
export const decideTxStatusWithDefaults = (known: Partial<TxStatusInput>): StatusAnswer =>
  decideTxStatus({
    nowMs: Date.now(),
    journal: [],
    tail: [],
    tailConfirmations: null,
    tracked: null,
    seen: { state: 'unknown' },
    ...known,
  })
