import type { JobRow } from '../db/outbox/rows.js'
import type { JobKind } from '../registry/outbox.js'

/** Capacity of a chain family's transactions, which may execute several jobs. */
interface TxCapacity<Row> {
  /** Capacity of one transaction for jobs of a kind: a number of jobs, or of bytes. */
  of(kind: JobKind): number
  /** Capacity that a job takes in its transaction. */
  takenBy(row: Row): number
  /** True if a job gets a transaction of its own, so that it delays no other job. */
  isAlone(row: Row): boolean
}

/**
 * Groups jobs, each group for one transaction: jobs of one kind, in their order, as many as the transaction has
 * capacity for.
 */
export function groupJobs<Row extends JobRow>(
  rows: readonly Row[],
  room: TxCapacity<Row>,
): Row[][] {
  const groups: Row[][] = []
  const open = new Map<JobKind, { group: Row[]; left: number }>()
  for (const row of rows) {
    const taken = room.takenBy(row)
    const last = open.get(row.kind)
    if (room.isAlone(row)) groups.push([row])
    else if (last && last.left >= taken) {
      last.group.push(row)
      last.left -= taken
    } else {
      const group = [row]
      groups.push(group)
      open.set(row.kind, { group, left: room.of(row.kind) - taken })
    }
  }
  return groups
}
