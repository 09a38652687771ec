import { ENTRY_KIND } from '../../registry/journal/entry.js'
import type { Network } from '../../registry/primitives/network.js'
import { prepareCommand, prepareStatement } from '../journal/partitions.js'
import { LEADER_ROLE } from '../leaders/leaders.js'
import { execute, type Queryable, readRows } from '../pg/rows.js'
import { NOW_MS_SQL } from '../pg/unavailable.js'

/** A network that this database mirrors. */
export interface MirroredNetwork {
  network: Network
  /** Newest hub block at which owners of names were proved. 0 before the first proof. */
  provedBlock: number
  /** Number of the entry up to which the names are proved. */
  provedSeq: number
  /** True if all names are proved: no bid follows `provedSeq`. */
  isProved: boolean
  /** Time since the newest checkpoint was verified, ms. Null before the first verification. */
  ageMs: number | null
}

const READ_MIRRORED_NETWORKS = `SELECT network, proved_block, proved_seq, ${NOW_MS_SQL} - mirrored_ms AS age_ms,
    CASE WHEN proved_block > 0 THEN NOT EXISTS (SELECT FROM journal j WHERE j.network = h.network
      AND j.generation = h.generation AND j.seq > h.proved_seq AND j.kind = ${ENTRY_KIND.bid})
    ELSE false END AS is_proved
  FROM journal_heads h WHERE proved_block IS NOT NULL`

export async function readMirroredNetworks(db: Queryable): Promise<Map<Network, MirroredNetwork>> {
  const rows = await readRows<MirroredNetwork>(db, READ_MIRRORED_NETWORKS)
  return new Map(rows.map((row) => [row.network, row]))
}

const READ_MIRROR_AGES = `SELECT network, ${NOW_MS_SQL} - mirrored_ms AS age_ms FROM journal_heads WHERE proved_block IS NOT NULL`

/** Time since the newest checkpoint of each mirrored network was verified, ms. Null before the first verification. */
export const readMirrorAges = (
  db: Queryable,
): Promise<Pick<MirroredNetwork, 'network' | 'ageMs'>[]> => readRows(db, READ_MIRROR_AGES)

/**
 * Bodies of the bids of a mirrored network that won names, in order, from the entry after number `after` on. No
 * condition is needed: a mirror's journal has only bids that won.
 */
export const readWinningBidBodies = prepareStatement<
  { seq: number; body: Buffer },
  [after: number, limit: number]
>(`SELECT j.seq, j.body FROM journal_heads h JOIN journal j USING (network, generation)
  WHERE h.network = $1 AND j.seq > $2 AND j.kind = ${ENTRY_KIND.bid} ORDER BY j.seq LIMIT $3`)

const STORE_PROVED_NAMES = `UPDATE journal_heads SET proved_block = $2, proved_seq = $4
  WHERE network = $1 AND generation = $3 AND proved_seq < $4`

/**
 * Records that the names of a generation are proved up to an entry, as of a block of the hub. No effect where the
 * generation has ended, or more is proved already.
 * @returns how many rows it changed, 0 or 1
 */
export const markNamesProved = (
  db: Queryable,
  network: Network,
  { block, generation, seq }: { block: number; generation: number; seq: number },
): Promise<number> => execute(db, network, STORE_PROVED_NAMES, [block, generation, seq])

/** Marks a network without entries as mirrored, before anything of its source is stored. */
export const markMirrorBegun = prepareCommand(
  `UPDATE journal_heads SET proved_block = 0 WHERE network = $1 AND proved_block IS NULL AND seq = 0`,
)

/** Reverts `markMirrorBegun`, for a source that does not have the network. No effect once anything is mirrored. */
export const revertMirrorBegun = prepareCommand(`UPDATE journal_heads SET proved_block = NULL
  WHERE network = $1 AND proved_block IS NOT NULL AND mirrored_ms IS NULL AND seq = 0`)

/** Records that this mirror has the newest checkpoint of its source. No effect where another process leads. */
export const markMirrorVerified = prepareCommand<
  [epoch: number]
>(`UPDATE journal_heads SET mirrored_ms = ${NOW_MS_SQL} WHERE network = $1 AND proved_block IS NOT NULL
  AND EXISTS (SELECT FROM leaders l WHERE l.network = $1 AND l.role = ${LEADER_ROLE.index} AND l.epoch = $2)`)
