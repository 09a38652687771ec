import type pg from 'pg'
import { type Leadership, takeLeadershipIfFree } from '../../src/db/leaders/lead.js'
import { LEADER_ROLE, type LeaderRole } from '../../src/db/leaders/leaders.js'
import { waitForCondition } from '../../src/testing/processes/processes.js'

/** Takes mainnet's lead from a process that is gone, without waiting for the end of its lease. */
export async function takeLead(pool: pg.Pool, role: LeaderRole): Promise<Leadership> {
  let taken: Leadership | null = null
  // its last transaction may hold the lease's row longer than one attempt waits
  await waitForCondition(async () => {
    await pool.query('UPDATE leaders SET until_ms = 0 WHERE network = 0 AND role = $1', [
      LEADER_ROLE[role],
    ])
    taken = await takeLeadershipIfFree(pool, 'mainnet', role)
    return taken !== null
  }, 10_000)
  return taken!
}
