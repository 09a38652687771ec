import type { HubCreditChange } from '../../registry/bridge/message.js'
import type { Network } from '../../registry/primitives/network.js'
import { prepareSingleRow, prepareStatement } from '../journal/partitions.js'
import { columnsFromProperties, insertRows, propertyArrays } from '../pg/arrays.js'
import { prepared, type Queryable, query } from '../pg/rows.js'

const CREDIT_COLUMNS = [
  ...columnsFromProperties<HubCreditChange>('int8', 'block', 'eid'),
  ...columnsFromProperties<HubCreditChange>('int4', 'logIndex'),
  ...columnsFromProperties<HubCreditChange>('bytea', 'txHash', 'wallet'),
  ...columnsFromProperties<HubCreditChange>('numeric', 'amountWei'),
]

export const insertConfirmedCredits = (
  db: Queryable,
  network: Network,
  items: readonly HubCreditChange[],
): Promise<unknown> =>
  insertRows(db, network, {
    table: 'hub_credits',
    columns: CREDIT_COLUMNS,
    items,
    onConflict: () => 'DO NOTHING',
  })

/** An amount that the hub owes or owed to a bidder, and the LayerZero id of the chain that the money came from. */
export type Credit = Pick<HubCreditChange, 'eid' | 'amountWei'>

/**
 * Amounts that the hub owes to an address (stored form) as of its confirmed blocks, one for each chain that money came
 * from. An amount is zero after its withdrawal. `rows`: number of credits and withdrawals that were added up.
 */
export const findCreditsOfAddress = prepareStatement<Credit & { rows: number }, [wallet: Buffer]>(
  `SELECT eid, sum(amount_wei) AS amount_wei, count(*)::int AS rows FROM hub_credits WHERE network = $1 AND wallet = $2
   GROUP BY eid ORDER BY eid`,
)

/** A credit, with the stored address of the bidder who owns the credit. */
export type OwnedCredit = Credit & Pick<HubCreditChange, 'wallet'>

/**
 * Sum of the credits that a hub transaction gave for bids made on the hub itself, with the owner of the first credit.
 * Null where it gave none.
 */
export const findCreditOfDirectBids = prepareSingleRow<OwnedCredit, [tx: Buffer]>(
  prepared(
    `SELECT wallet, eid, sum(amount_wei) OVER () AS amount_wei FROM hub_credits
   WHERE network = $1 AND tx_hash = $2 AND eid = 0 AND amount_wei > 0 ORDER BY log_index LIMIT 1`,
  ),
)

// the hub logs a message's credit right before the message's receipt
const FIND_CREDITS_OF_RECEIPTS = prepared(
  `SELECT i.ord, c.wallet, c.eid, c.amount_wei FROM unnest($2::bytea[], $3::int8[], $4::int4[]) WITH ORDINALITY AS i(hash, block, log_index, ord)
   JOIN hub_credits c ON c.network = $1 AND c.block = i.block AND c.log_index = i.log_index - 1
     AND c.tx_hash = i.hash AND c.amount_wei > 0`,
)

/**
 * Finds the credits that the hub gave for messages, by its receipts of the messages. One element per receipt, null for
 * a message without a credit.
 */
export async function findCreditsOfReceipts(
  db: Queryable,
  network: Network,
  receipts: readonly Pick<HubCreditChange, 'txHash' | 'block' | 'logIndex'>[],
): Promise<(OwnedCredit | null)[]> {
  const credits = receipts.map((): OwnedCredit | null => null)
  if (receipts.length === 0) return credits
  const rows = await query<OwnedCredit & { ord: number }>(
    db,
    network,
    FIND_CREDITS_OF_RECEIPTS,
    propertyArrays(receipts, 'txHash', 'block', 'logIndex'),
  )
  for (const { ord, ...credit } of rows) credits[ord - 1] = credit
  return credits
}
