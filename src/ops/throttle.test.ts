import { expect, it } from 'vitest'
import { createThrottle, errorKind, MAX_KINDS_PER_WINDOW } from './throttle.js'

it('each kind passes once in a window', () => {
  let nowMs = 0
  const isNews = createThrottle(60_000, () => nowMs)
  const passed: string[] = []
  const pass = (kind: string) => isNews(kind) && passed.push(`${kind} at ${nowMs}`)
  for (; nowMs < 120_000; nowMs += 500) pass('a')
  expect(passed).toEqual(['a at 0', 'a at 60000'])
  pass('b')
  pass('a')
  pass('b')
  expect(passed.slice(2)).toEqual(['b at 120000', 'a at 120000'])
})

it('a stranger who makes up kinds has a bounded number in each window, and hides no later fault', () => {
  let nowMs = 0
  const isNews = createThrottle(60_000, () => nowMs)
  const passing = () =>
    Array.from({ length: 3 * MAX_KINDS_PER_WINDOW }, (_, i) => isNews(`kind ${nowMs} ${i}`))
  for (; nowMs < 120_000; nowMs += 60_000)
    expect(passing().filter((passes) => passes)).toHaveLength(MAX_KINDS_PER_WINDOW + 1)
  nowMs = 240_000
  for (let i = 0; i < MAX_KINDS_PER_WINDOW; i++) isNews(`kind ${i}`)
  expect(['a new fault', 'another', 'kind 0'].map(isNews)).toEqual([true, false, false])
})

it('errors of one name and code are of one kind', () => {
  const refused = (message: string) => Object.assign(new Error(message), { code: 'ECONNREFUSED' })
  expect(errorKind(refused('a'))).toBe(errorKind(refused('b')))
  expect(errorKind(refused('a'))).not.toBe(errorKind(new Error('a')))
})
