import { describe, expect, it } from 'vitest'
import { cancelling, queued, sent } from '../../../test/model/nonceJobs.js'
import { type NonceJob, parkJobOnceVoid, resumeJob, retryJob, toParkedJob } from './job.js'

describe('the operator', () => {
  it('parks a job without a nonce at once, and one with a nonce after a cancel', () => {
    expect(parkJobOnceVoid(queued)).toMatchObject({ state: 'parked', reason: 'operator' })
    expect(parkJobOnceVoid(sent)).toMatchObject({ state: 'sent', nonce: 3, release: 'operator' })
    const done: NonceJob = { ...sent, state: 'confirmed' }
    expect(parkJobOnceVoid(done)).toBe(done)
    expect(parkJobOnceVoid(parkJobOnceVoid(queued))).toEqual(parkJobOnceVoid(queued))
  })

  it('resumes with the spending so far, and retries with none', () => {
    const stopped = parkJobOnceVoid({ ...queued, failures: 4, spentWei: 9n, nextMs: 5 })
    expect(resumeJob(stopped)).toMatchObject({
      state: 'queued',
      failures: 4,
      spentWei: 9n,
      reason: null,
    })
    expect(retryJob(stopped)).toEqual(queued)
    expect(retryJob({ ...sent, failures: 4, nextMs: 99 })).toEqual(sent)
    const done: NonceJob = { ...sent, state: 'confirmed' }
    expect(retryJob(done)).toBe(done)
  })

  it('resumes a job below its cost for good, and sends it alone', () => {
    const dust = toParkedJob<NonceJob>({ ...queued, kind: 'refuse' }, 'below_refusal_cost')
    expect(resumeJob(dust)).toMatchObject({ state: 'queued', reason: null, alone: true })
    expect(retryJob(dust)).toMatchObject({ state: 'queued', alone: true })
  })

  it('undoes a park as long as no cancel was sent, and otherwise continues with another nonce', () => {
    expect(resumeJob(parkJobOnceVoid(sent)).release).toBeNull()
    expect(resumeJob({ ...cancelling, release: 'operator' }).release).toBe('queue')
    expect(resumeJob({ ...sent, release: 'permanent_error' }).release).toBe('permanent_error')
  })
})
