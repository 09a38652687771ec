import { pino } from 'pino'
import { expect, it } from 'vitest'
import { INTERNAL_ERROR_ALARM_MS } from './alarms.js'
import { InternalErrorCounter, internalErrorProblems } from './internalErrors.js'
import { isInternalError, toLoggedError } from './logger/errors.js'

const at = { name: 'the relayer', network: 'mainnet', chain: '1' }

/** An error that a mistake in code throws. */
function mistake(): unknown {
  try {
    return (undefined as unknown as { txs: unknown }).txs
  } catch (error) {
    return error
  }
}

function setup() {
  const lines: Record<string, unknown>[] = []
  const clock = { nowMs: 0 }
  const log = pino(
    { level: 'debug', serializers: { err: toLoggedError } },
    { write: (line: string) => void lines.push(JSON.parse(line)) },
  )
  return { lines, clock, log, errors: new InternalErrorCounter(() => clock.nowMs) }
}

it('an error is logged with its stack and its alarm, and once more after a while', () => {
  const { lines, clock, log, errors } = setup()
  for (const nowMs of [0, 1_000, 2_000]) {
    clock.nowMs = nowMs
    errors.report(at, mistake(), log, { job: '7' })
  }
  expect(lines.map(({ level }) => level)).toEqual([50, 20, 20])
  expect(lines[0]).toMatchObject({
    loop: 'the relayer',
    chain: '1',
    job: '7',
    alarm: 'ClusterdOwnErrors',
    err: {
      type: 'TypeError',
      stack: expect.arrayContaining([expect.stringContaining('internalErrors')]),
    },
  })
  clock.nowMs = 3_600_000
  errors.report(at, mistake(), log)
  expect(lines.at(-1)).toMatchObject({ level: 50 })
})

it('errors are counted by their place', () => {
  const { log, errors } = setup()
  errors.report(at, mistake(), log)
  errors.report(at, mistake(), log)
  errors.report({ name: 'the API' }, mistake(), log)
  expect(errors.counts()).toMatchObject([
    { ...at, count: 2, ageMs: 0 },
    { name: 'the API', count: 1, ageMs: 0 },
  ])
})

it('an error is a problem while its alarm lasts', () => {
  const { clock, log, errors } = setup()
  expect(internalErrorProblems(errors.counts())).toEqual([])
  errors.report(at, mistake(), log)
  clock.nowMs = INTERNAL_ERROR_ALARM_MS - 1
  expect(internalErrorProblems(errors.counts())).toEqual([
    {
      alarm: 'ClusterdOwnErrors',
      text: expect.stringContaining('errors of our own code in the relayer, mainnet, 1: 1'),
      network: 'mainnet',
      chain: '1',
      subject: 'the relayer',
    },
  ])
  clock.nowMs = INTERNAL_ERROR_ALARM_MS
  expect(internalErrorProblems(errors.counts())).toEqual([])
})

it.each<[what: string, error: unknown, isOwn: boolean]>([
  ['a property of undefined', mistake(), true],
  ['a number out of range', new RangeError('invalid array length'), true],
  ['text that is no JSON', new SyntaxError('unexpected token'), true],
  ['an error with a message', new Error('no RPC URL answers'), false],
  ['a connection that fetch could not open', new TypeError('fetch failed', { cause: 1 }), false],
  ['what is no error', 'TypeError', false],
])('%s: is it ours?', (_, error, isOwn) => {
  expect(isInternalError(error)).toBe(isOwn)
})
