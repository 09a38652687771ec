import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import { LEADER_ROLE, type LeaderRole, LOCK_CLASS, lockKeys } from '../pg/codes.js'
import { type Queryable, readRows } from '../pg/rows.js'

/** A process that leads a network in a role. */
export interface Leader {
  network: Network
  role: LeaderRole
  /** Process id of its connection in PostgreSQL. */
  backend: number
  /** Address that the connection comes from, null for a local socket. */
  address: string | null
  /** Age of that connection, ms: it leads no longer than that. Null where this database role may not see it. */
  ageMs: number | null
}

const LEADERS = {
  name: 'leaders',
  text: `SELECT l.objid::int8 AS key, a.pid AS backend, host(a.client_addr) AS address,
      floor(extract(epoch FROM clock_timestamp() - a.backend_start) * 1000)::int8 AS "ageMs"
    FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.granted AND l.classid::int8 = $1
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
}

/** Says who leads: the holders of the leaders' locks. */
export async function readLeaders(db: Queryable): Promise<Leader[]> {
  const held = await readRows<Omit<Leader, 'network' | 'role'> & { key: number }>(db, LEADERS, [LOCK_CLASS])
  return held.flatMap(({ key, ...holder }) => {
    const led = LEADABLE.find(({ network, role }) => lockKeys(network, role)[1] === key)
    return led ? [{ ...led, ...holder }] : []
  })
}

const LEADABLE = NETWORKS.flatMap((network) =>
  (Object.keys(LEADER_ROLE) as LeaderRole[]).map((role) => ({ network, role })),
)
