import fs from 'node:fs'
import pg from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkSchema, schemaDifference } from '../scripts/schema-check.js'
import { migrate } from '../src/db/pg/migrate.js'
import { createDatabase } from '../src/testing/processes/postgres.js'
import { useServer } from './support/database.js'

const server = useServer()
let url: string

beforeAll(async () => {
  url = await createDatabase(server.url, 'ours')
  await migrate(url)
})

async function execute(sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

describe('schema-check', () => {
  it('finds migrations, schema and a migrated database in agreement', async () => {
    expect(await checkSchema(server.url, url)).toEqual([])
  })

  it('sees a field that no migration makes', async () => {
    const schema = fs.readFileSync('prisma/schema.prisma', 'utf8')
    const edited = schema.replace('model Cluster {', 'model Cluster {\n  extra Int?')
    expect(await schemaDifference(url, edited)).toContain(
      'ALTER TABLE "clusters" ADD COLUMN     "extra" INTEGER',
    )
  })

  it('sees what a database has beyond its migrations, partial indexes and collations too', async () => {
    await execute(
      'CREATE INDEX odd ON facts (block) WHERE block > 5; ALTER TABLE facts ALTER name TYPE text COLLATE "POSIX"',
    )
    const problems = await checkSchema(server.url, url)
    expect(problems).toContain(
      'only in the database: CREATE INDEX odd ON public.facts USING btree (block) WHERE (block > 5)',
    )
    expect(problems).toContainEqual(expect.stringMatching(/facts\.name.*POSIX|POSIX.*facts\.name/))
  })
})
