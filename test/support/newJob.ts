import type { JobKind, JobProgress, JobTx } from '../../src/registry/outbox.js'

/** A job that was just queued. */
export function newJob<Tx extends JobTx>(
  id: string,
  kind: JobKind,
  valueWei = 0n,
): JobProgress<Tx> {
  return {
    id,
    kind,
    state: 'queued',
    valueWei,
    nonce: null,
    txs: [],
    included: null,
    failures: 0,
    nextMs: 0,
    spentWei: 0n,
    reason: null,
    release: null,
    alone: false,
  }
}
