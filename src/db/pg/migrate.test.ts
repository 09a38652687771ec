import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import pg from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { queryOn, useServer } from '../../../test/support/database.js'
import { useFolder } from '../../../test/support/folder.js'
import { createDatabase } from '../../testing/processes/postgres.js'
import { compareSchema, MIGRATIONS_DIR, migrate } from './migrate.js'

const home = useFolder()
const server = useServer()
let url: string
let dir: string
let count = 0

function write(name: string, sql: string): void {
  fs.mkdirSync(path.join(dir, name), { recursive: true })
  fs.writeFileSync(path.join(dir, name, 'migration.sql'), sql)
}

const query = (sql: string) => queryOn(url, sql)

beforeEach(async () => {
  count++
  url = await createDatabase(server.url, `m${count}`)
  dir = path.join(home, `migrations-${count}`)
  write('0001_one', 'create table one (n int)')
  write('0002_two', 'create table two (n int); insert into one values (1);')
})

describe('migrate', () => {
  it('applies all once, in order, and records them by their checksums', async () => {
    expect(await migrate(url, dir)).toEqual(['0001_one', '0002_two'])
    expect(await migrate(url, dir)).toEqual([])
    write('0003_three', 'create table three (n int)')
    expect(await migrate(url, dir)).toEqual(['0003_three'])
    const rows = await query('select name, checksum from migrations order by name')
    const checksum = createHash('sha256').update('create table one (n int)').digest('hex')
    expect(rows[0]).toEqual({ name: '0001_one', checksum })
    expect(rows).toHaveLength(3)
  })

  it('reports missing migrations, and changes nothing', async () => {
    expect(await compareSchema(url, dir)).toMatchObject({ missing: ['0001_one', '0002_two'] })
    expect(
      await query(`select to_regclass('one') as one, to_regclass('migrations') as migrations`),
    ).toEqual([{ one: null, migrations: null }])
    await migrate(url, dir)
    write('0003_three', 'create table three (n int)')
    expect(await compareSchema(url, dir)).toMatchObject({ missing: ['0003_three'] })
  })

  it('applies each once when several start together', async () => {
    const results = await Promise.all([migrate(url, dir), migrate(url, dir), migrate(url, dir)])
    expect(results.flat().sort()).toEqual(['0001_one', '0002_two'])
    expect(await query('select n from one')).toEqual([{ n: 1 }])
  })

  it('leaves nothing of a failed migration, and leaves a new database empty', async () => {
    write('0003_bad', 'create table three (n int); select * from nowhere;')
    await expect(migrate(url, dir)).rejects.toThrow(
      'applying migration 0003_bad: relation "nowhere" does not exist',
    )
    expect(await query(`select to_regclass('one') as one, to_regclass('three') as three`)).toEqual([
      { one: null, three: null },
    ])
    write('0003_bad', 'create table three (n int)')
    expect(await migrate(url, dir)).toEqual(['0001_one', '0002_two', '0003_bad'])
    // a failed later migration must not have locked earlier tables
    write('0004_four', 'create table four (n int)')
    write('0005_bad', 'select * from nowhere')
    await expect(migrate(url, dir)).rejects.toThrow('applying migration 0005_bad')
    expect(await compareSchema(url, dir)).toMatchObject({ missing: ['0005_bad'] })
  })

  it('refuses edited migrations, and unknown ones among its own, by their names', async () => {
    await migrate(url, dir)
    write('0002_two', 'create table two (n bigint)')
    await expect(migrate(url, dir)).rejects.toThrow('0002_two was edited after it was applied')
    fs.rmSync(path.join(dir, '0002_two'), { recursive: true })
    write('0003_three', 'create table three (n int)')
    const unknown = 'has migration 0002_two, unknown to this version'
    await expect(migrate(url, dir)).rejects.toThrow(unknown)
    await expect(compareSchema(url, dir)).rejects.toThrow(unknown)
    fs.rmSync(path.join(dir, '0003_three'), { recursive: true })
    write('0001_other', 'create table other (n int)')
    await expect(migrate(url, dir)).rejects.toThrow(unknown)
  })

  it('accepts additions of newer versions, up to a contract step that removes what this version uses', async () => {
    write('0003_three', 'create table three (n int)')
    write('0004_contract_0002', 'drop table one')
    await migrate(url, dir)
    const newer = ['0003_three', '0004_contract_0002']
    for (const name of newer) fs.rmSync(path.join(dir, name), { recursive: true })
    expect(await compareSchema(url, dir)).toEqual({ missing: [], newer })
    expect(await migrate(url, dir)).toEqual([])
    fs.rmSync(path.join(dir, '0002_two'), { recursive: true })
    await expect(migrate(url, dir)).rejects.toThrow(
      '0004_contract_0002 removed what this version uses',
    )
  })

  it('only reads an up-to-date database: on a standby, and by a role without rights', async () => {
    await migrate(url, dir)
    await query('CREATE ROLE reader LOGIN; GRANT SELECT ON migrations TO reader')
    const limited = new URL(url)
    limited.username = 'reader'
    const standby = new URL(url)
    standby.searchParams.set('options', '-c default_transaction_read_only=on')
    expect(await migrate(limited.href, dir)).toEqual([])
    expect(await migrate(standby.href, dir)).toEqual([])
    write('0003_three', 'create table three (n int)')
    const missing = /the database does not have migrations.*clusterd migrate/
    await expect(migrate(limited.href, dir)).rejects.toThrow(missing)
    await expect(migrate(standby.href, dir)).rejects.toThrow(missing)
  })

  it('does not block others for long while a reader holds a table', async () => {
    await migrate(url, dir)
    write('0003_three', 'alter table one add column more int')
    const reader = new pg.Client({ connectionString: url })
    await reader.connect()
    await reader.query('BEGIN; SELECT n FROM one')
    const migrating = migrate(url, dir)
    let longestMs = 0
    for (const endMs = performance.now() + 4_000; performance.now() < endMs; ) {
      const startedMs = performance.now()
      await query('SELECT n FROM one')
      longestMs = Math.max(longestMs, performance.now() - startedMs)
    }
    // queries of the API have a timeout of ten seconds
    expect(longestMs).toBeLessThan(4_000)
    await reader.end()
    expect(await migrating).toEqual(['0003_three'])
  })

  it('applies this package’s own migrations', async () => {
    const names = fs
      .readdirSync(MIGRATIONS_DIR)
      .filter((name) => !name.includes('.'))
      .sort()
    expect(await migrate(url)).toEqual(names)
  })
})
