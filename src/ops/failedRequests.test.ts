import { describe, expect, it } from 'vitest'
import { FailedRequestCounter, failedRequestProblems } from './failedRequests.js'

const LOOKUP = { method: 'GET', route: '/v1/names/address/:address' }
const CHANGE = { method: 'POST', route: '/v1/clusters/wallets' }
const diskFull = Object.assign(new Error('could not extend file "base/1/2"'), {
  severity: 'ERROR',
  code: '53100',
})

/** Counts requests of one kind, a second apart. */
function counted(failed: number, good: number, kind = CHANGE) {
  const clock = { ms: 0 }
  const requests = new FailedRequestCounter(() => clock.ms)
  for (let i = 0; i < failed + good; i++) {
    requests.count(kind, i < failed ? diskFull : undefined)
    clock.ms += 100
  }
  return { requests, clock }
}

const problemsOf = ({ requests }: { requests: FailedRequestCounter }) =>
  failedRequestProblems(requests.routes())

describe('failed requests of one kind are a problem', () => {
  it.each([
    ['three of three', 3, 0, true],
    ['two of two', 2, 0, false],
    ['half', 10, 10, false],
    ['more than half', 11, 10, true],
    ['few of many', 5, 100, false],
    ['none', 0, 100, false],
  ])('where %s fail', (_, failed, good, isProblem) => {
    expect(problemsOf(counted(failed, good)).length).toBe(Number(isProblem))
  })
})

it('a problem names the kind, the numbers and the newest cause', () => {
  expect(problemsOf(counted(4, 1))).toEqual([
    {
      alarm: 'ClusterdErrors',
      text: '4 of 5 requests POST /v1/clusters/wallets failed in the last minute, the newest by: the disk of the database is full',
      subject: 'POST /v1/clusters/wallets',
    },
  ])
})

it('kinds are counted separately: a frequent one does not hide another', () => {
  const { requests } = counted(3, 0)
  for (let i = 0; i < 1_000; i++) requests.count(LOOKUP)
  expect(problemsOf({ requests }).map(({ text }) => text)).toEqual([
    expect.stringContaining('3 of 3 requests POST'),
  ])
})

it('failures count for a minute', () => {
  const { requests, clock } = counted(3, 0)
  clock.ms += 54_000
  expect(problemsOf({ requests }).length).toBe(1)
  clock.ms += 10_000
  expect(problemsOf({ requests })).toEqual([])
})
