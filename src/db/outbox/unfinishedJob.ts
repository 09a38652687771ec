import { JOB_KIND, JOB_STATE, type JobKind } from '../../registry/outbox.js'
import type { PartitionNames } from '../journal/partitions.js'
import { codeListSql, nameOfCode } from '../pg/codes.js'

/**
 * The job that a status shows for a message or a payment. Among its jobs that are not confirmed, it is one that has
 * failed, or else the one that runs first.
 */
export interface UnfinishedJob {
  kind: JobKind
  isParked: boolean
  /** Reason of the last failure or of the parking. Null while nothing has failed. */
  reason: string | null
  createdMs: number
}

/** SQL: columns, for a select list, of the row `j` that `unfinishedJobSql` joins. */
export const UNFINISHED_JOB_COLUMNS = `j.kind AS job_kind, j.state = ${JOB_STATE.parked} AS job_parked, j.reason AS job_reason, j.created_ms AS job_ms`

/** A row of `UNFINISHED_JOB_COLUMNS`. All columns are null where there is no job. */
export interface UnfinishedJobRow {
  jobKind: number | null
  jobParked: boolean
  jobReason: string | null
  jobMs: number
}

/**
 * SQL: joins, as `j`, the `UnfinishedJob` of a message or payment, if it has one.
 * @param subject SQL of the message's guid or the payment's id
 * @param kinds kinds of jobs to consider
 */
export const unfinishedJobSql = (
  l: PartitionNames,
  subject: string,
  ...kinds: readonly JobKind[]
): string =>
  `LEFT JOIN LATERAL (
      SELECT kind, state, reason, created_ms FROM jobs
      WHERE network = ${l.network} AND subject = ${subject} AND kind IN (${codeListSql(JOB_KIND, ...kinds)})
        AND state <> ${JOB_STATE.confirmed}
      ORDER BY reason IS NULL, kind LIMIT 1
    ) j ON true`

/** Replaces the job columns of a row by one object. */
export const nestUnfinishedJobColumns = <Row extends UnfinishedJobRow>(row: Row) => {
  const { jobKind, jobParked: isParked, jobReason: reason, jobMs: createdMs, ...rest } = row
  const job: UnfinishedJob | null =
    jobKind === null ? null : { kind: nameOfCode(JOB_KIND, jobKind), isParked, reason, createdMs }
  return { ...rest, job }
}
