import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JobRow } from '../db/outbox/rows.js'
import type { BlockhashTx, JobKind, JobState } from '../registry/outbox.js'
import { batchesOf, groupsOf } from './groups.js'
import { newJob } from './machine/job.js'

/** `hash`: of the transaction, null without one. */
function jobOf(id: number, kind: JobKind, change: { state?: JobState; hash?: string | null; failures?: number } = {}) {
  const { state = 'queued', hash = null, failures = 0 } = change
  const txs = hash === null ? [] : [{ hash, raw: 'AA==', lastValidHeight: 1 }]
  const row: JobRow<BlockhashTx> = {
    ...{ ...newJob<BlockhashTx>(String(id), kind), state, txs, failures },
    ...{ network: 'mainnet', chain: 3, signer: null, subject: null, createdMs: 0, updatedMs: 0, version: 1 },
    ...{ message: null, payment: null, batch: null, followers: [] },
  }
  return row
}
const idsOf = (groups: readonly (readonly JobRow[])[]) => groups.map((group) => group.map(({ id }) => Number(id)))

describe('jobs under way', () => {
  it('are followed by transaction, each in the order of the oldest of its jobs', () => {
    const sent = (id: number, hash: string) => jobOf(id, 'settle', { state: 'sent', hash })
    const due = [sent(1, 'a'), sent(2, 'b'), jobOf(3, 'settle'), sent(4, 'a'), sent(5, 'c'), sent(6, 'b')]
    expect(idsOf(groupsOf(due))).toEqual([[1, 4], [2, 6], [5]])
    expect(groupsOf([])).toEqual([])
  })

  it('are none that are queued, or without a transaction', () => {
    expect(groupsOf([jobOf(1, 'settle', { hash: 'a' }), jobOf(2, 'settle', { state: 'sent' })])).toEqual([])
  })
})

describe('jobs to start', () => {
  const jobs = fc
    .array(fc.record({ kind: fc.constantFrom('settle' as const, 'refund' as const), failures: fc.nat(2) }), {
      maxLength: 60,
    })
    .map((list) => list.map(({ kind, failures }, i) => jobOf(i, kind, { failures })))

  it('are in one transaction each, settlements of their own for what failed and every refund', () => {
    fc.assert(
      fc.property(jobs, (rows) => {
        const batches = batchesOf(rows)
        expect(
          idsOf(batches)
            .flat()
            .toSorted((a, b) => a - b),
        ).toEqual(rows.map(({ id }) => Number(id)))
        for (const batch of batches) {
          const isShared = batch.every(({ kind, failures }) => kind === 'settle' && failures === 0)
          expect(batch.length).toBeLessThanOrEqual(isShared ? 12 : 1)
        }
      }),
    )
  })

  it('fill each transaction of settlements before the next, in their order', () => {
    const rows = Array.from({ length: 25 }, (_, i) => jobOf(i, 'settle'))
    const ids = rows.map(({ id }) => Number(id))
    expect(idsOf(batchesOf(rows))).toEqual([ids.slice(0, 12), ids.slice(12, 24), ids.slice(24)])
    expect(batchesOf([])).toEqual([])
  })
})
