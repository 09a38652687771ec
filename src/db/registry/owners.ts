import { BID_WORDS } from '../../registry/journal/bid.js'
import { wordToBigInt } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import { WON } from '../pg/codes.js'
import { entryAt, prepare } from '../pg/prepared.js'
import type { Queryable } from '../pg/rows.js'

/** A name whose cluster an address is verified in. Times in milliseconds. */
export interface OwnedName {
  name: string
  clusterId: Buffer
  /** The amount of the bid that registered it. */
  amountWei: bigint
  createdMs: number
  updatedMs: number
  /** Stored address, null where it is private. */
  updatedBy: Buffer | null
}

const owned = prepare<Omit<OwnedName, 'amountWei'> & { amount: Buffer }>(
  'owned_names',
  (l) => `SELECT n.name, c.id AS cluster_id, substring(created.body FROM ${BID_WORDS.amount + 1} FOR 32) AS amount,
      created.at_ms AS created_ms, updated.at_ms AS updated_ms, updated.actor AS updated_by
    FROM ${l.wallets} w
    JOIN journal_heads h ON h.network = ${l.network}
    JOIN ${l.clusters} c ON c.network = ${l.network} AND c.serial = w.cluster
    JOIN ${l.names} n ON n.network = ${l.network} AND n.cluster = w.cluster AND n.outcome = ${WON}
    CROSS JOIN LATERAL (${entryAt(l, 'h.generation', 'n.seq')}) created
    CROSS JOIN LATERAL (${entryAt(l, 'h.generation', 'n.updated_seq')}) updated
    WHERE w.network = ${l.network} AND w.address = $1 AND w.verified AND NOT w.private
    ORDER BY n.seq`,
)

/** The names owned by a publicly verified address, oldest first. */
export async function findOwnedNames(db: Queryable, network: Network, address: Buffer): Promise<OwnedName[]> {
  const rows = await owned(db, network, [address])
  return rows.map(({ amount, ...name }) => ({ ...name, amountWei: wordToBigInt(amount) }))
}
