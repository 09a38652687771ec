import pg from 'pg'
import { expect, test } from 'vitest'
import { AIRDROP_STATE, codeList, wordOf } from './codes.js'
import { type Queryable, query } from './rows.js'

test('a whole number that a number can’t hold is refused', async () => {
  const answer = async ({ types }: pg.QueryArrayConfig) => ({
    fields: [{ name: 'seq' }],
    rows: [[types!.getTypeParser(pg.types.builtins.INT8, 'text')('9007199254740993')]],
  })
  const db = { query: answer } as unknown as Queryable
  await expect(query(db, 'mainnet', 'SELECT …')).rejects.toThrow('9007199254740993')
})

test('a stored number has one word, and an unknown one is refused', () => {
  expect(wordOf(AIRDROP_STATE, 2)).toBe('ended')
  expect(() => wordOf(AIRDROP_STATE, 3)).toThrow('holds 3 where one of loaded, open, ended belongs')
  expect(codeList(AIRDROP_STATE, 'open', 'ended')).toBe('1, 2')
})
