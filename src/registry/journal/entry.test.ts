import { expect, it } from 'vitest'
import { ENTRY_KIND, entryKindOfCode } from './entry.js'

it('entry kinds are never renumbered, and an unknown one throws', () => {
  const { bid, minimum, ...others } = ENTRY_KIND
  expect([bid, minimum, ...Object.values(others)]).toEqual([
    1, 2, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,
  ])
  expect(() => entryKindOfCode(99)).toThrow(RangeError)
  expect(() => entryKindOfCode(99)).toThrow(
    'this version of clusterd does not know kind 99 of a journal entry: run the newer version',
  )
})

it.each(Object.entries(ENTRY_KIND))('%s is read from its code, %d', (kind, code) => {
  expect(entryKindOfCode(code)).toBe(kind)
})
