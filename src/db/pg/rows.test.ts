import pg from 'pg'
import { expect, test } from 'vitest'
import { AIRDROP_STATE, codeList, wordOf } from './codes.js'
import { execute, type Queryable, query } from './rows.js'

const { INT8, NUMERIC, TEXT } = pg.types.builtins

/** A database that answers every statement with one row of these columns, as the driver parses them. */
function answering(columns: [name: string, oid: number, text: string][]) {
  const asked: pg.QueryArrayConfig[] = []
  const answer = async (config: pg.QueryArrayConfig) => {
    asked.push(config)
    const cells = columns.map(([, oid, text]) => config.types!.getTypeParser(oid, 'text')(text))
    return { fields: columns.map(([name]) => ({ name })), rows: [cells], rowCount: 1 }
  }
  return { asked, db: { query: answer } as unknown as Queryable }
}

test('rows have camelCase properties, whole numbers as numbers, amounts as bigints', async () => {
  const { db } = answering([
    ['created_ms', INT8, '1750000000000'],
    ['amount', NUMERIC, '100000000000000000000001'],
    ['name', TEXT, 'a_b'],
  ])
  expect(await query(db, 'testnet', 'SELECT …')).toEqual([
    { createdMs: 1_750_000_000_000, amount: 100_000_000_000_000_000_000_001n, name: 'a_b' },
  ])
})

test('a whole number that a number can’t hold is refused', async () => {
  const { db } = answering([['seq', INT8, '9007199254740993']])
  await expect(query(db, 'mainnet', 'SELECT …')).rejects.toThrow('9007199254740993')
})

test('the network’s code is the first parameter', async () => {
  const { db, asked } = answering([])
  await query(db, 'testnet', { name: 'one', text: 'SELECT $1, $2' }, ['x'])
  expect(await execute(db, 'mainnet', 'DELETE … WHERE network = $1')).toBe(1)
  expect(asked.map(({ name, values }) => ({ name, values }))).toEqual([
    { name: 'one', values: [1, 'x'] },
    { name: undefined, values: [0] },
  ])
})

test('a stored number has one word, and an unknown one is refused', () => {
  expect(wordOf(AIRDROP_STATE, 2)).toBe('ended')
  expect(() => wordOf(AIRDROP_STATE, 3)).toThrow('holds 3 where one of loaded, open, ended belongs')
  expect(codeList(AIRDROP_STATE, 'open', 'ended')).toBe('1, 2')
})
