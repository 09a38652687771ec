import { describe, expect, it } from 'vitest'
import { cancelling, queued, sent } from '../../../test/model/nonceJobs.js'
import { type NonceJob, park, parked, resume, retry } from './job.js'

describe('the operator', () => {
  it('parks a job without a nonce at once, and one with a nonce after a cancel', () => {
    expect(park(queued)).toMatchObject({ state: 'parked', reason: 'operator' })
    expect(park(sent)).toMatchObject({ state: 'sent', nonce: 3, release: 'operator' })
    const done: NonceJob = { ...sent, state: 'confirmed' }
    expect(park(done)).toBe(done)
    expect(park(park(queued))).toEqual(park(queued))
  })

  it('resumes with the spending so far, and retries with none', () => {
    const stopped = park({ ...queued, failures: 4, spentWei: 9n, nextMs: 5 })
    expect(resume(stopped)).toMatchObject({
      state: 'queued',
      failures: 4,
      spentWei: 9n,
      reason: null,
    })
    expect(retry(stopped)).toEqual(queued)
    expect(retry({ ...sent, failures: 4, nextMs: 99 })).toEqual(sent)
    const done: NonceJob = { ...sent, state: 'confirmed' }
    expect(retry(done)).toBe(done)
  })

  it('resumes a job below its cost for good, and sends it alone', () => {
    const dust = parked<NonceJob>({ ...queued, kind: 'refuse' }, 'below_refusal_cost')
    expect(resume(dust)).toMatchObject({ state: 'queued', reason: null, alone: true })
    expect(retry(dust)).toMatchObject({ state: 'queued', alone: true })
  })

  it('undoes a park as long as no cancel was sent, and otherwise continues with another nonce', () => {
    expect(resume(park(sent)).release).toBeNull()
    expect(resume({ ...cancelling, release: 'operator' }).release).toBe('queue')
    expect(resume({ ...sent, release: 'permanent_error' }).release).toBe('permanent_error')
  })
})
