import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { routes } from '../scripts/declaredRoutes.js'
import { AIRDROP_STATE } from '../src/db/airdrop/airdrops.js'
import { LEADER_ROLE } from '../src/db/leaders/leaders.js'
import { advisoryLockKeys } from '../src/db/pg/codes.js'
import {
  leadershipEndNotification,
  NOTIFY_CHANNEL,
  parseNotificationPayload,
} from '../src/db/pg/notify.js'
import { BID_OUTCOME, BID_REFUSAL } from '../src/registry/journal/bid.js'
import { ENTRY_KIND } from '../src/registry/journal/entry.js'
import { EVENTS } from '../src/registry/journal/eventTypes.js'
import { JOB_KIND, JOB_STATE } from '../src/registry/outbox.js'
import {
  PAYMENT_KIND,
  PAYMENT_OUTCOME,
  PAYMENT_STATE,
  QUOTE_VERDICT,
} from '../src/registry/payment/payment.js'
import { NETWORK_CODE, NETWORKS } from '../src/registry/primitives/network.js'

/**
 * Names and numbers that are unique by hand: nothing but these tests keeps two parts of a process from taking the same one.
 * Names of prepared statements, metrics and error codes are kept apart by the driver, by prom-client and by the type check.
 */

const ROOT = join(import.meta.dirname, '..')
const SRC = join(ROOT, 'src')

const sources = readdirSync(SRC, { recursive: true, encoding: 'utf8' })
  .filter((file) => /(?<!\.test)\.ts$/.test(file))
  // the pages run in a browser, and the local world is no product code
  .filter((file) => !/generated|^web\/page\/|^testing\//.test(file))
  .map((file) => ({ file, text: readFileSync(join(SRC, file), 'utf8') }))

function duplicatesOf(values: readonly unknown[]): unknown[] {
  return values.filter((value, i) => values.indexOf(value) !== i)
}

describe('codes in the database', () => {
  const tables: Record<string, Readonly<Record<string, number>>> = {
    AIRDROP_STATE,
    BID_OUTCOME,
    BID_REFUSAL,
    ENTRY_KIND,
    JOB_KIND,
    JOB_STATE,
    LEADER_ROLE,
    NETWORK_CODE,
    PAYMENT_KIND,
    PAYMENT_OUTCOME,
    PAYMENT_STATE,
    QUOTE_VERDICT,
    EVENTS: Object.fromEntries(Object.entries(EVENTS).map(([type, { code }]) => [type, code])),
  }

  it.each(Object.entries(tables))('%s has a number for each name', (_, table) => {
    expect(Object.keys(table).length).toBeGreaterThan(1)
    expect(duplicatesOf(Object.values(table))).toEqual([])
  })

  it('every table of codes is tried here', () => {
    const declared = sources.flatMap(({ text }) =>
      [...text.matchAll(/export const ([A-Z_]+) = \{[^}]*?\w: \d+,?[^}]*\} as const/g)].map(
        ([, name]) => name!,
      ),
    )
    expect(declared.length).toBeGreaterThan(8)
    // statuses of HTTP, steps in their order, kinds of another contract
    const others = ['ERROR_STATUS', 'DEPLOYMENT_STEP_ORDER', 'MESSAGE_LIBRARY_CONFIG_TYPE']
    const properties = ['EVM', 'SOLANA', 'FEED_BEGINNING']
    const known = [...Object.keys(tables), ...others, ...properties]
    expect(declared.filter((name) => !known.includes(name))).toEqual([])
  })
})

it('each purpose of an advisory lock has keys of its own in each network', () => {
  const keys = NETWORKS.flatMap((network) =>
    (['rewind', 'load', 'replay'] as const).map((purpose) =>
      advisoryLockKeys(network, purpose).join(),
    ),
  )
  expect(duplicatesOf(keys)).toEqual([])
  // one key of 64 bits, which PostgreSQL keeps apart from two of 32
  const others = sources.filter(({ text }) => /advisory\w*lock\w*\(\$1\)/.test(text))
  expect(others.map(({ file }) => file)).toEqual(['db/pg/migrate.ts'])
})

it('one channel has all notifications, and each network takes only its own', () => {
  for (const network of NETWORKS)
    for (const other of NETWORKS) {
      const isOwn = network === other
      expect(parseNotificationPayload(network, other)).toBe(isOwn ? 'notify' : null)
      expect(parseNotificationPayload(network, `${other} block`)).toBe(isOwn ? 'block' : null)
      expect(parseNotificationPayload(network, leadershipEndNotification(other)[1])).toBeNull()
    }
  const listening = sources.filter(({ text }) => /`LISTEN |'LISTEN /.test(text))
  expect(listening.map(({ file }) => file)).toEqual(['db/pg/notify.ts'])
  expect(NOTIFY_CHANNEL).toBe('clusterd')
})

it('no two routes answer the same request', () => {
  expect(routes.length).toBeGreaterThan(50)
  const requests = routes.map(({ method, path }) => `${method} ${path.replace(/:\w+/g, ':')}`)
  expect(duplicatesOf(requests)).toEqual([])
})

it('no two workers have the same name, by which health, metrics and errors know them', () => {
  const names = sources.flatMap(({ text }) =>
    [...text.matchAll(/\bname: ['`](the [^'`]+)['`]/g)].map(([, name]) => name!),
  )
  expect(names.length).toBeGreaterThan(10)
  expect(duplicatesOf(names)).toEqual([])
})

it('no two alarms have the same name', () => {
  const file = readFileSync(join(ROOT, 'examples/prometheus/alerts.yml'), 'utf8')
  const { groups } = parse(file) as { groups: { rules: { alert?: string }[] }[] }
  const alarms = groups.flatMap(({ rules }) => rules.flatMap(({ alert }) => alert ?? []))
  expect(alarms.length).toBeGreaterThan(20)
  expect(duplicatesOf(alarms)).toEqual([])
})

it('no two migrations have the same number', () => {
  const numbers = readdirSync(join(ROOT, 'prisma/migrations')).flatMap(
    (name) => /^\d+(?=_)/.exec(name)?.[0] ?? [],
  )
  expect(numbers.length).toBeGreaterThan(10)
  // two were made on the same day, and an applied migration keeps its name: they run in the order of their names
  expect(duplicatesOf(numbers)).toEqual(['20261126000000'])
})

/** State of modules, which all networks and servers of a process share, each with the reason why that is right. */
const SHARED = {
  'api/feed/stream.ts bytesOfEvents': 'by page of events',
  'api/limits/meter.ts UNLIMITED_METER': 'counts nothing',
  'db/pg/copyRows.ts sharedSink': 'emptied before each use, without a pause in between',
  'db/leaders/lead.ts endFrozenSentMs': 'by pool',
  'db/pg/pipeline.ts connectionsThroughPooler': 'by connection or pool',
  'db/pg/pool.ts beginStatements': 'by pool',
  'db/pg/pool.ts openConnections': 'by pool',
  'db/pg/rows.ts propertyOfColumn': 'a pure function of the column',
  'db/pg/session.ts schemaOfSession': 'by connection',
  'ops/background.ts apiRequestCount': 'of the event loop, which is the process’s',
  'ops/failpoint.ts armedFailpoint': 'of tests that kill the process',
  'ops/logger/sources.ts sourceMaps': 'files of the build',
  'ops/turns.ts expensiveWorkQueue': 'of the event loop, which is the process’s',
  'registry/journal/codec.ts sharedSink': 'emptied before each use, without a pause in between',
  'registry/journal/storedRules.ts rulesByBody': 'a pure function of the stored bytes',
  'web/page.ts gzipByText': 'a pure function of the text',
  'web/page.ts ensParents': 'the pages of a process show one service',
  'web/page.ts files': 'the pages of a process show one service',
  'web/page.ts headMarkupBySource': 'the pages of a process show one service',
  'web/page.ts indexPage': 'the pages of a process show one service',
  'web/page.ts siteInfo': 'the pages of a process show one service',
}

it('no module has state that networks or servers share, except what is listed with its reason', () => {
  const found = sources.filter(({ file }) => !file.startsWith('cli')).flatMap(stateOfModule)
  expect(found.sort()).toEqual(Object.keys(SHARED).sort())
})

it.each([
  ['let last = 0', 'last'],
  ['const seen = new Map<string, number>()\nseen.set("a", 1)', 'seen'],
  ['const kept = new LRUCache({ max: 1 })', 'kept'],
  ['const queue = new FairQueue({ atOnce: 1 })', 'queue'],
  ['const options = { a: 1 }\nfunction f() { options.a = 2 }', 'options'],
  ['import { files } from "./files.js"\nfiles["a"] = 1', 'files'],
])('finds state: %s', (text, name) => {
  expect(stateOfModule({ file: 'a.ts', text })).toEqual([`a.ts ${name}`])
})

it.each([
  'const names = new Set(["a"])\nconst has = names.has("a")',
  'const zero = new Uint8Array(32)',
  'function f() {\n  const seen = new Map()\n  seen.set(1, 2)\n  let i = 0\n}',
  'class A { #seen = new Map() }',
])('finds none: %s', (text) => {
  expect(stateOfModule({ file: 'a.ts', text })).toEqual([])
})

/** Classes whose instances keep no state, or only that of `CHANGES`. */
const WITHOUT_STATE =
  /^(Map|Set|RegExp|URL|TextDecoder|TextEncoder|Uint8Array|Uint32Array|PublicKey|BorshCoder|Command|\w*Error)$/
const LET = /^(?:export )?let (\w+)/gm
const OBJECT = /^(?:export )?const (\w+)(?:: [^=]{1,120}?)? = (?:new (\w+)|[{[])/gm
const IMPORTED = /^import (?:(\w+)(?:, )?)?(?:\{([^}]*)\})? from/gm
/** What follows the name of an object where it is filled, or a property is assigned. */
const FILLS = String.raw`\.(set|add|delete|clear|push|pop|shift|unshift|splice)\(`
const ASSIGNS = String.raw`(\.\w+|\[[^\]\n]+\]) = `

/**
 * Names of the variables of a module that keep state between calls: reassigned, filled, or of a class with state. By text,
 * since a module's own statements begin their lines.
 */
function stateOfModule({ file, text }: { file: string; text: string }): string[] {
  const matches = (name: string, what: string) =>
    new RegExp(String.raw`(?<![\w.#]|: )${name}(${what})`).test(text)
  const reassigned = [...text.matchAll(LET)].map(([, name]) => name!)
  const objects = [...text.matchAll(OBJECT)]
    .filter(
      ([, name, ofClass]) =>
        (ofClass !== undefined && !WITHOUT_STATE.test(ofClass)) ||
        matches(name!, `${FILLS}|${ASSIGNS}`),
    )
    .map(([, name]) => name!)
  const imported = [...text.matchAll(IMPORTED)]
    .flatMap(([, whole = '', named = '']) => [whole, ...named.split(/,\s*/)])
    .map((name) => name.replace(/^.* as /s, '').trim())
    .filter((name) => /^\w+$/.test(name) && matches(name, ASSIGNS))
  return [...reassigned, ...objects, ...imported].map((name) => `${file} ${name}`)
}
