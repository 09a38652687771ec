import type { Network } from '../../registry/primitives/network.js'
import { nameOfCode } from '../pg/codes.js'
import { prepared, type Queryable, readRows } from '../pg/rows.js'
import { NOW_MS_SQL } from '../pg/unavailable.js'

/** Values of `leaders.role`. In each network, one process at a time leads each role. */
export const LEADER_ROLE = { index: 0, relay: 1 } as const
export type LeaderRole = keyof typeof LEADER_ROLE

/** A process that leads a role of a network now. */
export interface Leader {
  network: Network
  role: LeaderRole
  /** PostgreSQL's process id of the connection that renewed the lease. */
  backend: number
  /**
   * Client address of the connection `backend`. Null for a local socket, or where this database role may not see it.
   */
  address: string | null
  /** Time since the process became leader, ms. */
  ageMs: number
}

const READ_LEADERS =
  prepared(`SELECT l.network, l.role, l.backend, host(a.client_addr) AS address, ${NOW_MS_SQL} - l.since_ms AS age_ms
    FROM leaders l LEFT JOIN pg_stat_activity a ON a.pid = l.backend WHERE l.until_ms > ${NOW_MS_SQL}`)

export async function readLeaders(db: Queryable): Promise<Leader[]> {
  const held = await readRows<Omit<Leader, 'role'> & { role: number }>(db, READ_LEADERS)
  return held.map((leader) => ({ ...leader, role: nameOfCode(LEADER_ROLE, leader.role) }))
}
