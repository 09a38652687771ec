import { findPaidNames, type TxPaidName } from '../../db/payments/paidNames.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { wordToName } from '../../registry/primitives/name.js'
import type { Network } from '../../registry/primitives/network.js'
import type { PaidName } from '../../registry/status.js'
import type { Context } from '../http/context.js'

/** The payments for community names that a transaction made, as the status function takes them; and when. */
export async function paidNamesOf(
  { pool }: Context,
  network: Network,
  tx: Buffer,
): Promise<{ paidNames: PaidName[]; paidMs: number } | null> {
  const payments = await findPaidNames(pool, network, tx)
  const first = payments[0]
  return first ? { paidNames: payments.map(paidName), paidMs: first.paidMs } : null
}

const paidName = ({
  logIndex,
  community,
  name,
  isConfirmed,
  confirmations,
  judgement,
  refund,
}: TxPaidName): PaidName => ({
  logIndex,
  name: `${textOf(community)}/${textOf(name)}`,
  source: { isConfirmed, confirmations },
  judgement,
  refund,
})

const textOf = (word: Buffer): string => wordToName(word) ?? toHex(word)
