import { expect, it } from 'vitest'
import { ClusterdError } from '../client/error.js'
import { MirrorHealth } from './health.js'

const NAME = 'the mirror of mainnet, from https://names.example'

function healthAt(nowMs: number) {
  const clock = { nowMs }
  return { clock, health: new MirrorHealth(NAME, () => clock.nowMs) }
}

it('reports a copy that does not end, though nothing fails', () => {
  const { clock, health } = healthAt(5_000)
  clock.nowMs += 59_000
  expect(health.problem()).toBe(null)
  clock.nowMs += 2_000
  expect(health.problem()).toEqual({
    alarm: 'ClusterdMirrorBehind',
    text: `${NAME}: nothing was taken in for 61 s: the source is slow, or its log does not end`,
  })
  health.succeeded()
  expect(health.problem()).toBe(null)
})

it.each([
  ['a refusal', 'log_mismatch', 'ClusterdMirrorRefused'],
  ['a source that does not answer', 'network', 'ClusterdMirrorBehind'],
  ['a source without a log', 'not_found', 'ClusterdMirrorBehind'],
] as const)('names %s at once, with its sentence', (_what, code, alarm) => {
  const { health } = healthAt(0)
  const error = new ClusterdError(code, 'It says why.')
  health.failed(error)
  expect(health.problem()).toEqual({ alarm, text: `${NAME}: It says why.` })
  health.succeeded()
  expect(health.problem()).toBe(null)
})
