import type { HubCreditChange } from '../../registry/bridge/message.js'
import type { Network } from '../../registry/primitives/network.js'
import { columnsFromProperties, insertRows } from '../pg/arrays.js'
import { prepared, type Queryable, query } from '../pg/rows.js'

const COLUMNS = [
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
    columns: COLUMNS,
    items,
    onConflict: () => 'DO NOTHING',
  })

/** Amount that the hub owes to a bidder for bids from one chain. */
export type Credit = Pick<HubCreditChange, 'eid' | 'amountWei'>

/** What the hub owes to an address (stored form) as of its confirmed blocks, by the chain that the money came from. */
export const findCreditsOfAddress = (
  db: Queryable,
  network: Network,
  wallet: Buffer,
): Promise<Credit[]> =>
  query(
    db,
    network,
    `SELECT eid, sum(amount_wei) AS amount_wei FROM hub_credits WHERE network = $1 AND wallet = $2
     GROUP BY eid HAVING sum(amount_wei) > 0 ORDER BY eid`,
    [wallet],
  )

/** Credit of the hub with the owner's stored address. */
export type OwnedCredit = Credit & Pick<HubCreditChange, 'wallet'>

const direct = prepared(
  `SELECT wallet, eid, sum(amount_wei) OVER () AS amount_wei FROM hub_credits
   WHERE network = $1 AND tx_hash = $2 AND eid = 0 AND amount_wei > 0 ORDER BY log_index LIMIT 1`,
)

/** Sum of the credits that a hub transaction gave for its direct bids, with the owner of the first. Null for none. */
export async function findCreditOfDirectBids(
  db: Queryable,
  network: Network,
  tx: Buffer,
): Promise<OwnedCredit | null> {
  return (await query<OwnedCredit>(db, network, direct, [tx]))[0] ?? null
}

// a message's credit is logged right before its receipt
const ofReceipts = prepared(
  `SELECT i.ord, c.wallet, c.eid, c.amount_wei FROM unnest($2::bytea[], $3::int8[], $4::int4[]) WITH ORDINALITY AS i(hash, block, log_index, ord)
   JOIN hub_credits c ON c.network = $1 AND c.block = i.block AND c.log_index = i.log_index - 1
     AND c.tx_hash = i.hash AND c.amount_wei > 0`,
)

/** Credits for messages by the hub's receipts of them: one element per receipt, null where a message has no credit. */
export async function findCreditsOfReceipts(
  db: Queryable,
  network: Network,
  receipts: readonly Pick<HubCreditChange, 'txHash' | 'block' | 'logIndex'>[],
): Promise<(OwnedCredit | null)[]> {
  const credits = receipts.map((): OwnedCredit | null => null)
  if (receipts.length === 0) return credits
  const rows = await query<OwnedCredit & { ord: number }>(db, network, ofReceipts, [
    receipts.map(({ txHash }) => txHash),
    receipts.map(({ block }) => block),
    receipts.map(({ logIndex }) => logIndex),
  ])
  for (const { ord, ...credit } of rows) credits[ord - 1] = credit
  return credits
}
