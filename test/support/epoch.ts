import { LEADER_ROLE, type LeaderRole } from '../../src/db/leaders/leaders.js'
import { type Queryable, query } from '../../src/db/pg/rows.js'
import type { Network } from '../../src/registry/primitives/network.js'

/** The epoch of a role's newest leader, 0 before the first. */
export async function readEpoch(
  db: Queryable,
  network: Network,
  role: LeaderRole,
): Promise<number> {
  const text = 'SELECT epoch FROM leaders WHERE network = $1 AND role = $2'
  return (await query<{ epoch: number }>(db, network, text, [LEADER_ROLE[role]]))[0]!.epoch
}
