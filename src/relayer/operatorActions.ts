import type pg from 'pg'
import { saveJobs } from '../db/outbox/jobs.js'
import { findJobById, type JobRow } from '../db/outbox/rows.js'
import { notifyNetwork } from '../db/pg/notify.js'
import { parkJobOnceUnmineable, resumeJob, retryJob } from './machine/job.js'

const JOB_CHANGE_BY_ACTION = { retry: retryJob, park: parkJobOnceUnmineable, resume: resumeJob }
export type OperatorJobAction = keyof typeof JOB_CHANGE_BY_ACTION

/** Maximum number of attempts to change a job, which a running daemon may change at the same time. */
const MAX_TRIES = 20

/** @throws Error with one sentence where there is no such job */
export async function requireJob(pool: pg.Pool, id: string): Promise<JobRow> {
  const job = /^[0-9]{1,15}$/.test(id) ? await findJobById(pool, id) : null
  if (!job) throw new Error(`There is no job ${id}: \`clusterd outbox list --all\` shows them.`)
  return job
}

/**
 * Changes a job on an operator's request, and notifies a running daemon.
 * @throws Error with one sentence where there is no such job, nothing to change, or another job to change instead, and
 * after `MAX_TRIES` attempts
 */
export async function executeOperatorJobAction(
  pool: pg.Pool,
  action: OperatorJobAction,
  id: string,
): Promise<JobRow> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const job = await requireJob(pool, id)
    const after = JOB_CHANGE_BY_ACTION[action](job)
    if (job.state === 'confirmed')
      throw new Error(`Job ${id} is confirmed: there is nothing to ${action}.`)
    if (job.batch !== null && job.state !== 'queued')
      throw new Error(`Job ${id} is batched with job ${job.batch}: change that one.`)
    if (action === 'resume' && after.state === job.state && after.release === job.release)
      throw new Error(`Job ${id} is ${job.state}, not parked: there is nothing to resume.`)
    if (!(await saveJobs(pool, [{ job, after }], { epoch: null, nowMs: Date.now() }))) continue
    await notifyNetwork(pool, job.network)
    return requireJob(pool, id)
  }
  throw new Error(`Job ${id} changes all the time: try again.`)
}
