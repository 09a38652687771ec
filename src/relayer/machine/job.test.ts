import { describe, expect, it } from 'vitest'
import { cancelling, queued, sent } from '../../../test/model/nonceJobs.js'
import { type EvmJob, parkJobOnceUnmineable, resumeJob, retryJob, toParkedJob } from './job.js'

describe('the operator', () => {
  it('parks a job without a nonce at once, and one with a nonce after a cancel', () => {
    expect(parkJobOnceUnmineable(queued)).toMatchObject({ state: 'parked', reason: 'operator' })
    expect(parkJobOnceUnmineable(sent)).toMatchObject({
      state: 'sent',
      nonce: 3,
      release: 'operator',
    })
    const done: EvmJob = { ...sent, state: 'confirmed' }
    expect(parkJobOnceUnmineable(done)).toBe(done)
    expect(parkJobOnceUnmineable(parkJobOnceUnmineable(queued))).toEqual(
      parkJobOnceUnmineable(queued),
    )
  })

  it('resumes with the spending so far, and retries with none', () => {
    const stopped = parkJobOnceUnmineable({ ...queued, failures: 4, spentWei: 9n, nextMs: 5 })
    expect(resumeJob(stopped)).toMatchObject({
      state: 'queued',
      failures: 4,
      spentWei: 9n,
      reason: null,
    })
    expect(retryJob(stopped)).toEqual(queued)
    expect(retryJob({ ...sent, failures: 4, nextMs: 99 })).toEqual(sent)
    const done: EvmJob = { ...sent, state: 'confirmed' }
    expect(retryJob(done)).toBe(done)
  })

  it('resumes a job below its cost for good, and sends it alone', () => {
    const dust = toParkedJob<EvmJob>({ ...queued, kind: 'refuse' }, 'below_refusal_cost')
    expect(resumeJob(dust)).toMatchObject({ state: 'queued', reason: null, alone: true })
    expect(retryJob(dust)).toMatchObject({ state: 'queued', alone: true })
  })

  it('undoes a park as long as no cancel was sent, and otherwise continues with another nonce', () => {
    expect(resumeJob(parkJobOnceUnmineable(sent)).release).toBeNull()
    expect(resumeJob({ ...cancelling, release: 'operator' }).release).toBe('queue')
    expect(resumeJob({ ...sent, release: 'spend_cap' }).release).toBe('spend_cap')
  })
})
