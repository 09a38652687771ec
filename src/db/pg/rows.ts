import { createHash } from 'node:crypto'
import type pg from 'pg'
import {
  LOG_CODE,
  type LogPlace,
  NETWORK_CODE,
  type Network,
} from '../../registry/primitives/network.js'
import type { Prisma } from '../generated/client.js'
import { nameOfCode } from './codes.js'
import { connectionsThroughPooler, type Queryable } from './pipeline.js'

export type { Queryable }

/** Key of a row of `chains`. */
export interface ChainRowKey {
  network: Network
  chain: number
}

type DecodedValue<T> = T extends bigint
  ? number
  : T extends Prisma.Decimal
    ? bigint
    : T extends Uint8Array
      ? Buffer
      : T

/**
 * A row of a model of prisma/schema.prisma in our types: int8 as number, numeric as bigint, bytea as Buffer, the
 * network by its name.
 */
export type DecodedRow<Model> = {
  [Key in keyof Model]: Key extends 'network' ? Network : DecodedValue<Model[Key]>
}

/** A statement that the server parses and plans once per connection, under the statement's name. Made by `prepared`. */
export interface PreparedText {
  name: string
  text: string
}

export type Statement = string | PreparedText

/**
 * Makes a statement that is prepared on each connection that runs it. The name is the SHA-256 of the text, because the
 * driver refuses another text under the same name. Its 43 bytes fit into the 63 that PostgreSQL keeps of a name.
 */
export const prepared = (text: string): PreparedText => ({
  name: createHash('sha256').update(text).digest('base64url'),
  text,
})

const propertyOfColumn = new Map<string, string>()

function propertyOf(column: string): string {
  let property = propertyOfColumn.get(column)
  if (property === undefined) {
    property = column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
    propertyOfColumn.set(column, property)
  }
  return property
}

async function runStatement(
  db: Queryable,
  statement: Statement,
  values: readonly unknown[],
): Promise<pg.QueryArrayResult> {
  const query = { values: values as unknown[], rowMode: 'array' as const }
  if (typeof statement === 'string') return db.query({ ...query, text: statement })
  // a pooler does not support named statements
  if (connectionsThroughPooler.has(db)) return db.query({ ...query, text: statement.text })
  return db.query({ ...query, ...statement })
}

/**
 * Runs a statement.
 * @returns the rows as objects: the column `created_ms` is the property `createdMs`, and `network` is the network's
 * name
 * @throws RangeError for an unknown network; errors of the driver
 */
export async function readRows<Row>(
  db: Queryable,
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const { fields, rows } = await runStatement(db, statement, values)
  const properties = fields.map(({ name }) => propertyOf(name))
  return rows.map((cells: unknown[]) => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < cells.length; i++) row[properties[i]!] = cells[i]
    if (typeof row.network === 'number') row.network = nameOfCode(NETWORK_CODE, row.network)
    return row as Row
  })
}

/** Like `readRows`, for one network or log: `$1` is the code of the network or log, and the values are `$2` and up. */
export function query<Row>(
  db: Queryable,
  network: LogPlace,
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  return readRows(db, statement, [LOG_CODE[network], ...values])
}

/** Like `query`. @returns how many rows the statement wrote, deleted or, for a SELECT, found */
export async function execute(
  db: Queryable,
  network: LogPlace,
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<number> {
  return (await runStatement(db, statement, [LOG_CODE[network], ...values])).rowCount ?? 0
}

/**
 * SQL condition: true if `from` has a row for the current outer row. OFFSET 0 stops the planner from scanning the whole
 * table first, which is slow when it holds many dead rows.
 */
export const existsRowSql = (from: string): string => `EXISTS (SELECT FROM ${from} OFFSET 0)`
