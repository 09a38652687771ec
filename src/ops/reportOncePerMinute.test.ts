import { expect, it } from 'vitest'
import { reportOncePerMinute } from './reportOncePerMinute.js'

it('reports the first failure, and others of its kind at most once a minute', () => {
  let nowMs = 0
  const reported: string[] = []
  const report = reportOncePerMinute(
    ({ message }) => reported.push(message),
    () => nowMs,
  )
  const refused = (message: string) => Object.assign(new Error(message), { code: 'ECONNREFUSED' })
  for (; nowMs < 120_000; nowMs += 500) report(refused(`at ${nowMs}`))
  expect(reported).toEqual(['at 0', 'at 60000'])
  report(new Error('another'))
  report(refused('again'))
  expect(reported).toEqual(['at 0', 'at 60000', 'another', 'again'])
})
