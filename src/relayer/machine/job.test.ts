import { describe, expect, it } from 'vitest'
import type { NonceTx } from '../../registry/outbox.js'
import { type NonceJob, newJob, park, parked, resume, retry } from './job.js'

const tx = (n: number, change: Partial<NonceTx> = {}): NonceTx => ({
  ...{ hash: `0x${n}`, raw: `0x${n}${n}`, purpose: 'deliver', gas: 1_000n, valueWei: 7n },
  ...{ maxFeePerGas: 100n, maxPriorityFeePerGas: 10n, sentBlock: null, isRejected: false },
  ...change,
})
const queued = newJob<NonceTx>('d', 'execute', 7n)
const sent: NonceJob = { ...queued, state: 'sent', nonce: 3, txs: [tx(1, { sentBlock: 50 })] }
const cancelling: NonceJob = {
  ...sent,
  release: 'queue',
  txs: [tx(1, { sentBlock: 40 }), tx(2, { purpose: 'cancel' })],
}

describe('the operator', () => {
  it('parks what holds no nonce at once, the rest after a cancel', () => {
    expect(park(queued)).toMatchObject({ state: 'parked', reason: 'operator' })
    expect(park(sent)).toMatchObject({ state: 'sent', nonce: 3, release: 'operator' })
    const done: NonceJob = { ...sent, state: 'confirmed' }
    expect(park(done)).toBe(done)
    expect(park(park(queued))).toEqual(park(queued))
  })

  it('resumes with what was spent, retries without', () => {
    const stopped = park({ ...queued, failures: 4, spentWei: 9n, nextMs: 5 })
    expect(resume(stopped)).toMatchObject({ state: 'queued', failures: 4, spentWei: 9n, reason: null })
    expect(retry(stopped)).toEqual(queued)
    expect(retry({ ...sent, failures: 4, nextMs: 99 })).toEqual(sent)
    const done: NonceJob = { ...sent, state: 'confirmed' }
    expect(retry(done)).toBe(done)
  })

  it('resumes dust for good, by itself', () => {
    const dust = parked<NonceJob>({ ...queued, kind: 'refuse' }, 'below_refusal_cost')
    expect(resume(dust)).toMatchObject({ state: 'queued', reason: null, alone: true })
    expect(retry(dust)).toMatchObject({ state: 'queued', alone: true })
  })

  it('takes a park back as long as no cancel is out, else goes on at another nonce', () => {
    expect(resume(park(sent)).release).toBeNull()
    expect(resume({ ...cancelling, release: 'operator' }).release).toBe('queue')
    expect(resume({ ...sent, release: 'permanent_error' }).release).toBe('permanent_error')
  })
})
