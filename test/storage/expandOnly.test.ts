import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { MIGRATIONS_DIR } from '../../src/db/pg/migrate.js'

/**
 * Migrations follow "expand, migrate, contract" (docs/run/operations.md): an older version works with the migrated
 * tables.
 */

/** The newest migration from before the rule. */
const BEFORE = '20261121000000_limits'
const CONTRACT_STEP = /_contract_(\d+)$/

/** Statements that remove something that older versions use, or refuse rows that they write. */
const TAKES: readonly (readonly [RegExp, string])[] = [
  [/\bDROP\s+(TABLE|COLUMN|SCHEMA|VIEW|FUNCTION|TYPE|SEQUENCE|TRIGGER|NOT\s+NULL)\b/i, 'drops'],
  [/\bALTER\s+TABLE\b[^;]*\bDROP\s+(?!CONSTRAINT\b|DEFAULT\b)/i, 'drops'],
  [/\bRENAME\b/i, 'renames'],
  [/\bSET\s+NOT\s+NULL\b/i, 'demands a value'],
  [
    /\bADD\s+COLUMN\b(?:(?!\bADD\s+COLUMN\b)[^;,])*\bNOT\s+NULL\b(?![^;,]*\bDEFAULT\b)(?<!\bDEFAULT\b[^;,]*)/i,
    'demands a value',
  ],
  [
    /\bALTER\s+TABLE\b[^;]*\bADD\s+(CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN|EXCLUDE)\b/i,
    'refuses rows',
  ],
  [/\bALTER\s+COLUMN\b[^;,]*\b(TYPE|SET\s+DATA)\b/i, 'changes a type'],
  [/\b(TRUNCATE|REVOKE|CREATE\s+(OR\s+REPLACE\s+)?RULE)\b/i, 'changes what is written'],
  // a trigger that runs after a statement has written its rows can't change them
  [
    /\bCREATE\s+(OR\s+REPLACE\s+)?TRIGGER\b(?![^;]*\bAFTER\b[^;]*\bFOR\s+EACH\s+STATEMENT\b)/i,
    'changes what is written',
  ],
]

/** A unique index over a primary key and more columns, which refuses no row. */
const OVER_KEY = '"leaders_network_role_epoch_key"'

/** Tables that a migration creates: later statements on them affect no older version. */
const madeBy = (sql: string): Set<string> =>
  new Set(
    [...sql.matchAll(/CREATE\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?"?(\w+)"?/gi)].map(
      ([, t]) => t!,
    ),
  )

/** Statements of a migration that an older version would not survive. */
function breaches(text: string): string[] {
  const sql = text.replace(/--.*$/gm, '')
  const made = madeBy(sql)
  return sql.split(';').flatMap((statement) => {
    const table = /\bALTER\s+TABLE\s+(?:ONLY\s+)?"?(\w+)"?/i.exec(statement)?.[1]
    if (table && made.has(table)) return []
    const unique = /\bCREATE\s+UNIQUE\s+INDEX\b.*?\bON\s+"?(\w+)"?/is.exec(statement)?.[1]
    if (unique && !made.has(unique) && !statement.includes(OVER_KEY))
      return [`refuses rows: ${statement.trim()}`]
    const found = TAKES.find(([pattern]) => pattern.test(statement))
    return found ? [`${found[1]}: ${statement.trim()}`] : []
  })
}

const names = readdirSync(MIGRATIONS_DIR)
  .filter((name) => /^\d+_/.test(name))
  .sort()

it.each(names.filter((name) => name > BEFORE))(
  '%s only adds, or is named as the contract step of another migration',
  (name) => {
    const step = CONTRACT_STEP.exec(name)
    if (!step) {
      const sql = readFileSync(`${MIGRATIONS_DIR}/${name}/migration.sql`, 'utf8')
      expect(breaches(sql)).toEqual([])
      return
    }

    // an earlier version has to work without the removed parts: a version with a migration, or the step's predecessor
    const predecessor = names.findIndex((other) => other.startsWith(`${step[1]}_`))
    expect(predecessor).toBeGreaterThanOrEqual(0)
    expect(predecessor).toBeLessThan(names.indexOf(name))
  },
)

it.each([
  'ALTER TABLE "jobs" DROP COLUMN "tx"',
  'alter table jobs drop tx',
  'DROP TABLE "jobs"',
  'ALTER TABLE "jobs" RENAME COLUMN "tx" TO "hash"',
  'ALTER TABLE "jobs" ALTER COLUMN "tx" SET NOT NULL',
  'ALTER TABLE "jobs" ADD COLUMN "more" INTEGER NOT NULL',
  'ALTER TABLE "jobs" ADD COLUMN "a" INTEGER DEFAULT 0, ADD COLUMN "b" INTEGER NOT NULL',
  'ALTER TABLE "jobs" ADD CONSTRAINT "c" CHECK ("tx" > 0)',
  'ALTER TABLE "jobs" ALTER COLUMN "tx" TYPE BIGINT',
  'CREATE UNIQUE INDEX "i" ON "jobs" ("tx")',
  'TRUNCATE "jobs"',
  'CREATE TRIGGER "t" BEFORE INSERT ON "jobs" FOR EACH STATEMENT EXECUTE FUNCTION "f"()',
  'CREATE OR REPLACE TRIGGER "t" AFTER INSERT ON "jobs" FOR EACH ROW EXECUTE FUNCTION "f"()',
])('an older version would not survive: %s', (sql) => {
  expect(breaches(`-- a comment\n${sql};`)).toHaveLength(1)
})

it.each([
  'CREATE TABLE "new" ("n" INTEGER NOT NULL); ALTER TABLE "new" ADD CONSTRAINT "c" CHECK ("n" > 0); CREATE UNIQUE INDEX ON "new" ("n")',
  'ALTER TABLE "jobs" ADD COLUMN "more" INTEGER',
  'ALTER TABLE "jobs" ADD COLUMN "more" INTEGER NOT NULL DEFAULT 0',
  'ALTER TABLE "jobs" ADD COLUMN "more" INTEGER DEFAULT 0 NOT NULL',
  'CREATE INDEX "i" ON "jobs" ("tx"); DROP INDEX "j" -- not a rename',
  'CREATE TRIGGER "t" AFTER INSERT ON "jobs" FOR EACH STATEMENT EXECUTE FUNCTION "f"()',
])('an older version survives: %s', (sql) => {
  expect(breaches(sql)).toEqual([])
})
