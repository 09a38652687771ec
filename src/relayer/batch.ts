import PQueue from 'p-queue'
import { createMemo, type Memo } from '../chains/evm/signer.js'
import type { JobRow } from '../db/outbox/rows.js'
import type { NonceTx } from '../registry/outbox.js'
import type { Policy } from './machine/index.js'
import { hasEnded } from './machine/job.js'
import { carryOut, decide, type Outcome, type Ports } from './step.js'

/** Batch size. Small enough that the chain state read at the start is still fresh when the last one is sent. */
const BATCH_SIZE = 64
/** Upper bound on consecutive steps of a job; queued to sent takes two. */
const MAX_STEPS = 6
const LOOKS_AT_ONCE = 16

export interface BatchOptions {
  policy: Policy
  /** The ports of a job, with its questions memoized; or a step that needs no look. */
  portsOf(row: Row, memo: Memo): Ports | (() => Promise<Outcome>)
  /** Jobs as they stand now, in any order. */
  reload(ids: readonly string[]): Promise<Row[]>
  /** Gets each step of each job, with what is stored after it. */
  onOutcome?: ((row: Row, outcome: Outcome) => void) | undefined
}

type Row = JobRow<NonceTx>

/** A job with the outcomes of its steps in this batch. */
export interface Advanced {
  row: Row
  outcomes: Outcome[]
}

/**
 * Advances every job as far as it goes now, in the given order. Each batch goes step by step: all jobs are looked at
 * together, then they act one after the other, so that nonces and transactions keep the order.
 * @throws the first error of any job, after all have advanced: LostLeadershipError, or one of the database
 */
export async function advanceJobs(due: readonly Row[], options: BatchOptions): Promise<Advanced[]> {
  const jobs = due.map((row): Advanced => ({ row, outcomes: [] }))
  const errors: unknown[] = []
  for (let i = 0; i < jobs.length; i += BATCH_SIZE) {
    let batch: Advanced[] = jobs.slice(i, i + BATCH_SIZE)
    for (let step = 0; step < MAX_STEPS && batch.length > 0; step++) batch = await stepAll(batch, options, errors)
  }
  if (errors.length > 0) throw errors[0]
  return jobs
}

/** Steps each job once: all are looked at together, then each acts in its turn. @returns jobs that may go on at once */
async function stepAll(batch: readonly Advanced[], options: BatchOptions, errors: unknown[]): Promise<Advanced[]> {
  const memo = createMemo()
  const looks = new PQueue({ concurrency: LOOKS_AT_ONCE })
  const acts = await looks.addAll(batch.map((job) => () => look(job, memo, options)))
  const done: Step[] = []
  for (const [i, act] of acts.entries()) {
    try {
      done.push({ job: batch[i]!, outcome: await act() })
    } catch (error) {
      errors.push(error)
    }
  }
  return reloadChanged(done, options)
}

interface Step {
  job: Advanced
  outcome: Outcome
}

/** @returns what the job does after its look */
async function look({ row }: Advanced, memo: Memo, { portsOf, policy }: BatchOptions): Promise<() => Promise<Outcome>> {
  const ports = portsOf(row, memo)
  if (typeof ports === 'function') return ports
  const spendCapWei = policy.spendCapWei * BigInt(1 + row.followers.length)
  const decision = await decide(row, ports, { ...policy, spendCapWei })
  return () => carryOut(row, decision, ports)
}

/** Loads changed jobs again. @returns those that may go on at once */
async function reloadChanged(done: readonly Step[], { reload, onOutcome }: BatchOptions): Promise<Advanced[]> {
  const changed = done.filter(({ outcome }) => isProgress(outcome) || outcome.outcome === 'stale')
  const rows = changed.length > 0 ? await reload(changed.map(({ job }) => job.row.id)) : []
  const stored = new Map(rows.map((row) => [row.id, row]))
  const goesOn: Advanced[] = []
  for (const { job, outcome } of done) {
    job.outcomes.push(outcome)
    const after = stored.get(job.row.id)
    if (after) job.row = after
    onOutcome?.(job.row, outcome)
    if (after && !hasEnded(after)) goesOn.push(job)
  }
  return goesOn
}

const NO_PROGRESS = new Set<Outcome['outcome']>(['waiting', 'ended', 'unreachable', 'stale'])
/** Whether something was stored, so that there may be more to do at once. */
export const isProgress = ({ outcome }: Outcome): boolean => !NO_PROGRESS.has(outcome)
