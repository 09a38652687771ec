import type { HubCreditChange } from '../../registry/bridge/message.js'
import type { Network } from '../../registry/primitives/network.js'
import { columnsFromProperties, insertRows } from '../pg/arrays.js'
import { type Queryable, query } from '../pg/rows.js'

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

/** Credits that a hub transaction gave, in the order of its logs. */
export const findCreditsOfTransaction = (
  db: Queryable,
  network: Network,
  tx: Buffer,
): Promise<Pick<HubCreditChange, 'wallet' | 'eid' | 'amountWei' | 'logIndex'>[]> =>
  query(
    db,
    network,
    `SELECT wallet, eid, amount_wei, log_index FROM hub_credits WHERE network = $1 AND tx_hash = $2 AND amount_wei > 0
     ORDER BY log_index`,
    [tx],
  )
