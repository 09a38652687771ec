import type pg from 'pg'
import { findJob } from '../db/outbox/due.js'
import { type SignerKey, saveJobs, saveWithNextNonce } from '../db/outbox/jobs.js'
import type { JobRow } from '../db/outbox/rows.js'
import { notify } from '../db/pg/notify.js'
import type { JobProgress, NonceTx } from '../registry/outbox.js'
import type { JobStore } from './step.js'

/**
 * Stores the steps of one nonce job while its row is the one that was read and this process leads the network's
 * relayer.
 */
export function storeOf(
  pool: pg.Pool,
  row: JobRow<NonceTx>,
  { key, epoch, nowMs, dailyCapWei }: { key: SignerKey; epoch: number; nowMs: () => number; dailyCapWei: bigint },
): JobStore {
  return {
    save: (after) => {
      const signer = after.nonce === null ? undefined : key.signer
      return saveJobs(pool, [{ job: row, after }], { epoch, nowMs: nowMs(), signer, dailyCapWei })
    },
    saveWithNonce: (build) => saveWithNextNonce(pool, row, { key, epoch, nowMs: nowMs(), dailyCapWei }, build),
  }
}

const TRIES = 20

/**
 * The operator's hand: changes a job by one of `park`, `resume` and `retry`, and wakes the relayer.
 * @throws Error with one sentence where there is no such job, or it changes all the time
 */
export async function changeJob(
  pool: pg.Pool,
  { network, id }: Pick<JobRow, 'network' | 'id'>,
  change: (job: JobProgress) => JobProgress,
): Promise<JobRow> {
  for (let tries = 0; tries < TRIES; tries++) {
    const row = await findJob(pool, network, id)
    if (!row) throw new Error(`There is no job ${id}.`)
    if (row.batch !== null) throw new Error(`Job ${id} goes with job ${row.batch}: change that one.`)
    if (!(await saveJobs(pool, [{ job: row, after: change(row) }], { epoch: null, nowMs: Date.now() }))) continue
    await notify(pool, network)
    return (await findJob(pool, network, id)) ?? row
  }
  throw new Error(`Job ${id} changes all the time: try again.`)
}
