import { expect, it } from 'vitest'
import { StaleVersionError } from './outbox.js'

it('a job that was changed meanwhile is told by the name of its error', () => {
  const error = new StaleVersionError('job 7')
  expect(String(error)).toBe('StaleVersionError: job 7')
})
