import { expect, it } from 'vitest'
import { BackgroundWork, backgroundPauseMs, countApiRequest } from './background.js'

it.each([
  ['nothing where no request arrived', { workedMs: 200, arrived: 0 }, 0],
  ['3 ms for a request', { workedMs: 200, arrived: 1 }, 3],
  ['as long as the part took at most', { workedMs: 50, arrived: 1_000 }, 50],
  ['300 ms at most', { workedMs: 2_000, arrived: 1_000 }, 300],
])('a pause is %s', (_what, { workedMs, arrived }, pauseMs) => {
  expect(backgroundPauseMs(workedMs, arrived)).toBe(pauseMs)
})

it('work is shared from a request to the next pause, and its signal ends a pause', async () => {
  const background = new BackgroundWork()
  expect(background.isShared).toBe(false)
  countApiRequest()
  expect(background.isShared).toBe(true)
  await background.pause(AbortSignal.abort())
  expect(background.isShared).toBe(false)
})
