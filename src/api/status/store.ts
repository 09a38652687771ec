import { ignoreOutage } from '../../db/pg/unavailable.js'
import {
  storeInvalidVerdict,
  storeTxSighting,
  type TxSighting,
} from '../../db/transactions/transactions.js'
import { isTerminalStatus, type StatusAnswer } from '../../registry/status.js'
import type { TxStatusQuery } from './decide.js'

/**
 * Stores that a chain has returned a transaction, with its status if that is final: a final status must be stored
 * before it is answered. A sighting alone is not essential, so an outage of the database is ignored.
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
