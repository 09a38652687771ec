import { JOB_STATE, type JobState } from '../../registry/outbox.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import type { Queryable } from '../pg/rows.js'
import { type JobRow, selectJobs } from './rows.js'

export interface JobFilter {
  networks: readonly Network[]
  states: readonly JobState[]
  /** At most this many, the newest. */
  limit: number
}

/** Jobs of some states, newest first. */
export async function listJobs(db: Queryable, { networks, states, limit }: JobFilter): Promise<JobRow[]> {
  const values = [states.map((state) => JOB_STATE[state]), limit]
  const text = 'WHERE j.network = $1 AND j.state = ANY ($2::int2[]) ORDER BY j.id DESC LIMIT $3'
  const found = networks.map((network) => selectJobs(db, network, text, values))
  const jobs = (await Promise.all(found)).flat()
  return jobs.sort((a, b) => Number(b.id) - Number(a.id)).slice(0, limit)
}

/** A job by its id, of whichever network, null where there is none. */
export async function jobById(db: Queryable, id: string): Promise<JobRow | null> {
  const found = NETWORKS.map((network) => selectJobs(db, network, 'WHERE j.network = $1 AND j.id = $2', [id]))
  return (await Promise.all(found)).flat()[0] ?? null
}
