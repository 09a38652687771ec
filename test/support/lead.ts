import type pg from 'pg'
import { LEADER_ROLE, type LeaderRole } from '../../src/db/pg/codes.js'
import { type Leadership, tryLead } from '../../src/db/pg/leader.js'

/** Takes mainnet's lead from a process that is gone, without waiting for the end of its lease. */
export async function takeLead(pool: pg.Pool, role: LeaderRole): Promise<Leadership> {
  await pool.query('UPDATE leaders SET until_ms = 0 WHERE network = 0 AND role = $1', [LEADER_ROLE[role]])
  return (await tryLead(pool, 'mainnet', role))!
}
