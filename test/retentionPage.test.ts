import { expect, it } from 'vitest'
import { read, rowsOf } from '../scripts/lint/documents.js'
import { MAX_SESSIONS_PER_WALLET } from '../src/db/auth/sessions.js'
import { KEPT_BLOCK_HASHES } from '../src/db/chains/tail.js'
import {
  OPERATOR_ACTION_RETENTION_MS,
  RETAINED_GENERATIONS,
  removeExpiredRows,
  TRANSACTION_RETENTION_MS,
} from '../src/db/deployment/retention.js'
import type { Queryable } from '../src/db/pg/rows.js'
import { MAX_KEPT_FAILURES } from '../src/db/webhooks/webhooks.js'

/** The figures and tables of docs/run/retention.md, held against the code's. */

const DAY_MS = 86_400_000
const text = read('docs/run/retention.md')
const rows = new Map(rowsOf(text).map(([what = '', ...cells]) => [what, cells.join(' ')]))

/** A database that has no rows. */
const empty = { query: async () => ({ rows: [], rowCount: 0, fields: [] }) } as unknown as Queryable

it('has a row for each rule of the retention, and no other', async () => {
  const rules = Object.keys(await removeExpiredRows(empty, 'mainnet'))
  const table = text.slice(text.indexOf('| what |'), text.indexOf('Other rows are removed'))
  expect(rowsOf(table).map(([what]) => what)).toEqual(['what', '---', ...rules])
})

it.each([
  ['transactions that came to nothing', `${TRANSACTION_RETENTION_MS / DAY_MS} days`],
  ['signed bytes of ended jobs', `${TRANSACTION_RETENTION_MS / DAY_MS} days`],
  ['sessions that have expired', `newest ${MAX_SESSIONS_PER_WALLET} of a wallet`],
  ['commands of operators', `${OPERATOR_ACTION_RETENTION_MS / DAY_MS} days`],
  ['entries of generations that ended', `before: ${RETAINED_GENERATIONS}`],
  ['hashes of confirmed blocks', `${KEPT_BLOCK_HASHES} blocks`],
  ['failed deliveries', `newest ${MAX_KEPT_FAILURES} of`],
])('says of %s: %s', (what, figure) => {
  expect(rows.get(what)).toContain(figure)
})

it('names every table', () => {
  const tables = [...read('prisma/schema.prisma').matchAll(/@@map\("(\w+)"\)/g)]
  expect(tables.length).toBeGreaterThan(30)
  expect(tables.map(([, name]) => name).filter((name) => !text.includes(`\`${name}\``))).toEqual([])
})
