import { findPaidNames, type TxPaidName } from '../../db/payments/ofTransaction.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { wordToName } from '../../registry/primitives/name.js'
import type { PaidName } from '../../registry/status.js'
import type { TxQuery } from './decide.js'

/** Payments for community names of a transaction, as the status function takes them, and when they were made. */
export async function paidNamesOf({ context, tx }: TxQuery): Promise<{ paidNames: PaidName[]; paidMs: number } | null> {
  const payments = await findPaidNames(context.pool, context.network, tx)
  const first = payments[0]
  return first ? { paidNames: payments.map(paidName), paidMs: first.paidMs } : null
}

const paidName = ({
  sequence,
  community,
  name,
  isConfirmed,
  confirmations,
  judgement,
  refund,
}: TxPaidName): PaidName => ({
  logIndex: sequence,
  name: `${textOf(community)}/${textOf(name)}`,
  source: { isConfirmed, confirmations },
  judgement,
  refund,
})

const textOf = (word: Buffer): string => wordToName(word) ?? toHex(word)
