import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { schemaDifference } from '../../scripts/schema-check.js'
import { runDoctorCommand } from '../../src/cli/doctor/doctor.js'
import { chainsFileJsonSchema } from '../../src/config/chainsFile.js'
import { missingNewFields } from '../../src/config/newFields.js'
import type { DoctorFinding } from '../../src/ops/finding.js'
import { LOCAL_SECRET_KEYS } from '../../src/testing/stackParts.js'
import { printed } from '../support/cli.js'
import { useDatabase } from '../support/database.js'
import { GONE_FIELDS, GONE_SURFACE } from './differences.js'
import { type Build, fieldsOf, hashContracts, RECORDED, readJson } from './recorded.js'
import { surfaceOf } from './surface.js'

/** What an earlier build expects, reads and deploys, compared with this one. */

const build = readJson<Build>('build.json')
const changelog = readFileSync('docs/run/changelog.md', 'utf8')

describe('the database', () => {
  const database = useDatabase(1)
  /** Statements that take away what only the newer schema has. */
  const TAKES_AWAY = /^(DROP (TABLE|INDEX) "\w+"|ALTER TABLE "\w+" (DROP COLUMN "\w+"(,\s+)?)+)$/

  it('has all that the earlier build reads and writes', async () => {
    const toEarlier = await schemaDifference(database.url, build.schema)
    const statements = toEarlier
      .replace(/^--.*$/gm, '')
      .split(';')
      .map((statement) => statement.trim())
      .filter((statement) => statement !== '')
    expect(statements.filter((statement) => !TAKES_AWAY.test(statement))).toEqual([])
  })

  it('would not have a column that was renamed', async () => {
    const renamed = build.schema.replace('@map("genesis_hash")', '@map("genesis")')
    const statement = await schemaDifference(database.url, renamed)
    expect(statement).toContain('ADD COLUMN     "genesis" BYTEA')
    expect(statement).not.toMatch(TAKES_AWAY)
  })
})

describe('the chains file', () => {
  it('has every earlier field', () => {
    const kept = build.fields.filter((field) => !GONE_FIELDS.includes(field))
    expect(fieldsOf(chainsFileJsonSchema())).toEqual(expect.arrayContaining(kept))
  })

  it('has a release at each field that the earlier build did not know', () => {
    const marked = new Set(unsetFieldNames())
    const added = fieldsOf(chainsFileJsonSchema()).filter((field) => !build.fields.includes(field))
    expect(added.filter((field) => !marked.has(field))).toEqual([])
  })

  /** Fields with a release. */
  const unsetFieldNames = () =>
    missingNewFields(chainsFileJsonSchema(), EVERY_SECTION).map(({ field }) => field)
  /** A file with every section, and no field in them. */
  const EVERY_SECTION = {
    chains: [{ gasToken: {}, bridge: {}, deployment: {}, watchOnly: { minimum: [] } }],
    solana: { mainnet: { feeds: {} }, testnet: { feeds: {} } },
    ens: { mainnet: {}, testnet: {} },
    deliveries: { mainnet: {}, testnet: {} },
    deployment: { mainnet: {}, testnet: {} },
    payments: {},
  }

  it('of the earlier build is read, and `clusterd doctor` names what is new', async () => {
    const env = {
      ...LOCAL_SECRET_KEYS,
      DATABASE_URL: 'postgresql://127.0.0.1:9/none',
      CLUSTERD_CHAINS: join(RECORDED, 'chains.json'),
    }
    const findings = JSON.parse(
      await printed(env, () => runDoctorCommand({ json: true })),
    ) as DoctorFinding[]
    const configured = findings.filter(({ about }) => about === 'configuration')
    expect(configured).toMatchObject([{ level: 'ok', found: 'read' }])
    const named = findings.find(({ about }) => about === 'chains file')
    expect(named).toMatchObject({ level: 'ok' })
    const file = JSON.parse(readFileSync(join(RECORDED, 'chains.json'), 'utf8'))
    for (const { field } of missingNewFields(chainsFileJsonSchema(), file))
      expect(named!.found).toContain(`${field} (1.0.0)`)
  })
})

it('variables, commands, options and exports are there, but for those in the changelog', async () => {
  // another test of this process may have loaded the command line
  vi.resetModules()
  const now = await surfaceOf(process.cwd())
  const gone = (part: keyof typeof now) =>
    build.surface[part].filter((name) => !now[part].includes(name)).sort()
  expect({
    variables: gone('variables'),
    commands: gone('commands'),
    exports: gone('exports'),
  }).toEqual(GONE_SURFACE)
  const names = Object.values(GONE_SURFACE)
    .flat()
    .map((text) => text.split(' ').at(-1)!)
  expect(names.filter((name) => !changelog.includes(`\`${name}\``))).toEqual([])
})

describe('the contracts', () => {
  it('that changed are in the changelog, which says what their owner does', async () => {
    const today = await hashContracts('.')
    const names = Object.keys(today).filter((name) => today[name] !== build.contracts[name])
    const rows = changelog.split('\n').filter((line) => line.startsWith('|'))
    const unnamed = names.filter(
      (name) => !rows.some((row) => row.includes(`\`${name}\``) && /deploy|replace/.test(row)),
    )
    expect(unnamed).toEqual([])
  })
})
