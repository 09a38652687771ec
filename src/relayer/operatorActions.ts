import type pg from 'pg'
import { jobById } from '../db/outbox/list.js'
import type { JobRow } from '../db/outbox/rows.js'
import { park, resume, retry } from './machine/job.js'
import { changeJob } from './store.js'

const CHANGES = { retry, park, resume }
/** What an operator may ask of a job. */
export type OperatorAction = keyof typeof CHANGES

/** A job by its id. @throws Error with one sentence where there is none */
export async function requireJob(pool: pg.Pool, id: string): Promise<JobRow> {
  const job = /^[0-9]{1,15}$/.test(id) ? await jobById(pool, id) : null
  if (!job) throw new Error(`There is no job ${id}: \`clusterd outbox list --all\` shows them.`)
  return job
}

/**
 * Changes a job on the operator's word; a running daemon takes the change up at once.
 * @throws Error with one sentence where there is no such job, or nothing to change
 */
export async function actOnJob(pool: pg.Pool, action: OperatorAction, id: string): Promise<JobRow> {
  const before = await requireJob(pool, id)
  const after = CHANGES[action](before)
  if (before.state === 'confirmed') throw new Error(`Job ${id} is confirmed: there is nothing to ${action}.`)
  if (action === 'resume' && after.state === before.state && after.release === before.release)
    throw new Error(`Job ${id} is ${before.state}, not parked: there is nothing to resume.`)
  return changeJob(pool, before, CHANGES[action])
}
