import pg from 'pg'
import { expect, test } from 'vitest'
import { AIRDROP_STATE } from '../airdrop/airdrops.js'
import { codeListSql, nameOfCode } from './codes.js'
import { createPool } from './pool.js'

test('a whole number that a number can’t hold is refused', () => {
  const { types } = createPool({
    url: 'postgres://localhost',
    max: 1,
    applicationName: 'test',
  }).options
  const parse = (types as pg.CustomTypesConfig).getTypeParser(pg.types.builtins.INT8, 'text')
  expect(() => parse('9007199254740993')).toThrow('9007199254740993')
})

test('a stored number stands for one word, and an unknown number is refused', () => {
  expect(nameOfCode(AIRDROP_STATE, 2)).toBe('ended')
  expect(() => nameOfCode(AIRDROP_STATE, 3)).toThrow(
    'holds 3 where one of loaded, open, ended belongs',
  )
  expect(codeListSql(AIRDROP_STATE, 'open', 'ended')).toBe('1, 2')
})
