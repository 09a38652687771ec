import { readdirSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { read as readDocument, rowsOf } from '../scripts/lint/documents.js'
import { CHAIN_FAMILY_PROPERTIES } from '../src/registry/families.js'
import { ONE_NODE, usesOfOneNode } from './support/oneNode.js'

/**
 * Enforces the import directions of docs/build/architecture.md: imports point only downwards. A room is a folder of
 * src. A file directly in src is a room of its own.
 */
const SRC = fileURLToPath(new URL('../src/', import.meta.url))

/** The tree of the log: pure files without Node's modules. */
const LOG = [
  'append',
  'beginning',
  'cosignature',
  'evidence',
  'note',
  'provedTree',
  'tiles',
  'tree',
].map((name) => `registry/transparencyLog/${name}.ts`)

/** Reads bundles from logs, in a part of the client's package that is loaded when it is used. */
const READERS = 'registry/auth/bundle.ts'

/**
 * Imports allowed to each room besides its own files. `types:` allows only `import type`. A path with `.ts` allows only
 * that file. The commands (`cli.ts` and `cli`) may import every room but `testing`.
 */
const MAY_IMPORT: Record<string, readonly string[]> = {
  client: [...LOG, READERS],
  contracts: ['config/presetData.ts', 'contracts/evm/artifacts'],
  registry: [],
  config: ['registry'],
  ops: ['registry', 'types:config'],
  chains: ['registry', 'ops', 'types:config', 'contracts/evm/artifacts'],
  db: ['registry', 'ops', 'types:config'],
  indexer: ['registry', 'chains', 'db', 'push', 'ops', 'types:config'],
  relayer: ['registry', 'chains', 'db', 'ops', 'types:config'],
  push: ['registry', 'db', 'ops', 'types:config'],
  web: ['registry', 'client'],
  ens: ['registry', 'types:config', 'types:db'],
  api: [
    'registry',
    'db',
    'push',
    'web',
    'ens',
    'ops',
    'chains/chain.ts',
    ...CHAIN_FAMILY_PROPERTIES.map(({ key }) => `chains/${key}/port.ts`),
    'chains/requirementInputs.ts',
    'types:config',
  ],
  mirror: ['registry', 'client', 'db', 'push', 'ops', 'types:indexer'],
  // the wiring
  daemon: [
    'registry',
    'config',
    'chains',
    'db',
    'indexer',
    'relayer',
    'push',
    'mirror',
    'web',
    'ens',
    'api',
    'ops',
  ],
}
/** The commands start the local world. No other product code may load it, and the commands load it lazily. */
const MAY_LOAD_TESTING = /^cli(\.ts$|\/)/

interface Import {
  /** Path of the imported file in src. */
  target: string
  isTypeOnly: boolean
  isDynamic: boolean
}

/** The only file that names statements: by the hash of their text. */
const STATEMENT_NAMES = 'db/pg/rows.ts'
/** The first keyword of an SQL statement in our code. */
const SQL =
  /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH|SET|LISTEN|NOTIFY|LOCK|TRUNCATE|CREATE|ALTER|DROP|COPY)\s/

/** The access to PostgreSQL, which no table's name appears in. */
const PG = 'db/pg/'
const TABLE_NAMES = [
  ...readFileSync('prisma/schema.prisma', 'utf8').matchAll(/@@map\("(\w+)"\)/g),
].map(([, name]) => name!)
const TABLE_NAME = new RegExp(`\\b(${TABLE_NAMES.join('|')})\\b`)

interface Source {
  path: string
  imports: Import[]
  hasSql: boolean
  /** Its first string that contains the name of a table. */
  tableText: string | null
  /** It has an object with a name and a text, as the driver takes a prepared statement. */
  namesStatements: boolean
  readsEnvironment: boolean
}

function read(path: string, text: string): Source {
  const source: Source = {
    path,
    imports: [],
    hasSql: false,
    tableText: null,
    namesStatements: false,
    readsEnvironment: false,
  }
  const add = (node: ts.Node | undefined, isTypeOnly: boolean, isDynamic = false) => {
    if (!node || !ts.isStringLiteralLike(node)) return
    if (/^(node:)?process$/.test(node.text)) source.readsEnvironment = true
    if (!node.text.startsWith('.')) return
    const target = relative(SRC, resolve(SRC, dirname(path), node.text))
      .replace(/\.js$/, '.ts')
      .replaceAll(sep, '/')
    source.imports.push({ target, isTypeOnly, isDynamic })
  }
  const visit = (node: ts.Node): void => {
    if ((ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) && SQL.test(node.text))
      source.hasSql = true
    if (isText(node) && !node.text.startsWith('.') && TABLE_NAME.test(node.text))
      source.tableText ??= node.text
    if (ts.isObjectLiteralExpression(node)) source.namesStatements ||= hasNameAndText(node)
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, importsTypesOnly(node.importClause))
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly)
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument))
      add(node.argument.literal, true)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      add(node.arguments[0], false, true)
    } else if (ts.isIdentifier(node) && node.text === 'process' && !isTypeOrOther(node))
      source.readsEnvironment = true
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true))
  return source
}

const isText = (node: ts.Node): node is ts.LiteralLikeNode =>
  ts.isStringLiteralLike(node) || ts.isTemplateLiteralToken(node)

function hasNameAndText({ properties }: ts.ObjectLiteralExpression): boolean {
  const names = properties.map((property) => property.name?.getText())
  return names.includes('name') && names.includes('text')
}

function importsTypesOnly(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true
  const bindings = clause.namedBindings
  if (clause.name || !bindings || !ts.isNamedImports(bindings)) return false
  return bindings.elements.length > 0 && bindings.elements.every((element) => element.isTypeOnly)
}

/**
 * True for `process` in any use except its environment: `process.pid`, `{ process: … }`, or another symbol with that
 * name.
 */
function isTypeOrOther(node: ts.Identifier): boolean {
  const { parent } = node
  if (ts.isPropertyAccessExpression(parent))
    return parent.name === node || parent.name.text !== 'env'
  if (ts.isElementAccessExpression(parent) && parent.expression === node) {
    return (
      !ts.isStringLiteralLike(parent.argumentExpression) || parent.argumentExpression.text !== 'env'
    )
  }
  // `const { env } = process` and `f(process)` pass the whole object on
  return (
    !(ts.isVariableDeclaration(parent) && parent.initializer === node) &&
    !ts.isCallExpression(parent)
  )
}

/** Room of a path. `../contracts/evm/artifacts/Hub.ts`, outside src, belongs to the room `contracts/evm/artifacts`. */
const roomOf = (path: string): string =>
  path.startsWith('../') ? path.split('/').slice(1, 4).join('/') : path.split('/')[0]!
const isOfPage = (path: string): boolean => path.startsWith('web/page/')
const isTest = (path: string): boolean => /\.test\.ts$/.test(path)

function problemsOf(source: Source): string[] {
  const problems: string[] = []
  const room = roomOf(source.path)
  if (isTest(source.path)) return problems
  if (source.readsEnvironment && source.path !== 'config/environment.ts')
    problems.push(`${source.path} reads process.env`)
  if (room === 'testing') return problems
  if (source.namesStatements && room === 'db' && source.path !== STATEMENT_NAMES)
    problems.push(
      `${source.path} names a statement by hand: \`prepared\` gives it a name of its own`,
    )
  if (source.hasSql && room !== 'db')
    problems.push(`${source.path} has SQL, which is the database room's alone`)
  if (source.tableText !== null && source.path.startsWith(PG))
    problems.push(`${source.path} knows a table: ${source.tableText}`)
  for (const { target, isTypeOnly, isDynamic } of source.imports) {
    if (source.path.startsWith(PG) && /^db\/(?!pg\/|generated\/)/.test(target))
      problems.push(`${source.path} imports ${target}, which is above it`)
    const to = roomOf(target)
    const arrow = `${source.path} imports ${target}`
    if (target.startsWith('db/generated/') && !isTypeOnly)
      problems.push(`${arrow}, which has Prisma's types for our rows: its client is not loaded`)
    else if (isTest(target)) problems.push(`${arrow}, a test`)
    else if (isOfPage(target) && !isOfPage(source.path) && !isTypeOnly)
      problems.push(`${arrow}, which is bundled for browsers and built for nothing else`)
    else if (to === 'testing') {
      if (!MAY_LOAD_TESTING.test(source.path) || !(isDynamic || isTypeOnly)) problems.push(arrow)
    } else if (to !== room && !isAllowed(room, target, isTypeOnly)) problems.push(arrow)
  }
  return problems
}

function isAllowed(room: string, target: string, isTypeOnly: boolean): boolean {
  const rules = MAY_IMPORT[room]
  // a command
  if (!rules) return room === 'cli.ts' || room === 'cli'
  const to = roomOf(target)
  return rules.some((rule) =>
    rule.startsWith('types:') ? isTypeOnly && rule.slice(6) === to : rule === to || rule === target,
  )
}

const paths = readdirSync(SRC, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative(SRC, resolve(entry.parentPath, entry.name)).replaceAll(sep, '/'))
  .filter((path) => !path.includes('generated/'))

describe('the house', () => {
  const sources = paths.map((path) => read(path, readFileSync(resolve(SRC, path), 'utf8')))

  it('has only rooms with rules for their imports', () => {
    const rooms = new Set(paths.map(roomOf).filter((room) => !room.endsWith('.ts')))
    expect(
      [...rooms].filter((room) => !(room in MAY_IMPORT) && room !== 'cli' && room !== 'testing'),
    ).toEqual([])
  })

  it('is as docs/build/architecture.md draws it', () => {
    const page = rowsOf(readDocument('docs/build/architecture.md'))
    const differing = Object.entries(MAY_IMPORT).filter(([room, rules]) => {
      const cell = page.find(([folder]) => folder === `\`src/${room}\``)?.at(-1) ?? ''
      // files and folders within a room have a wording of their own there
      const shown = cell.split(', ').filter((part) => /^(types of )?\w+$/.test(part))
      const allowed = rules.filter((rule) => !rule.includes('/'))
      const isWorded = /^(anything|nothing|the tree)/.test(cell)
      return !isWorded && `${shown}` !== `${allowed}`.replaceAll('types:', 'types of ')
    })
    expect(differing.map(([room]) => room)).toEqual([])
  })

  it('has imports that point downwards, a registry without imports from other rooms, and one reader of process.env', () => {
    expect(sources.flatMap(problemsOf)).toEqual([])
  })

  it('has routes of v1 and of v0.1 in the folder of their version', () => {
    const strays = paths
      .filter((path) => path.startsWith('api/') && !isTest(path))
      .flatMap((path) => {
        const text = readFileSync(resolve(SRC, path), 'utf8')
        return [...text.matchAll(/route(?:\.\w+|\[method\])\(\s*['`]\/(v[\d.]+)\//g)]
          .filter(([, version]) => dirname(path) !== `api/${version}`)
          .map(([declaration]) => `${path}: ${declaration}`)
      })
    expect(strays).toEqual([])
  })

  it('has a context of at most twelve fields for the handlers of routes', () => {
    const text = readFileSync(resolve(SRC, 'api/http/context.ts'), 'utf8')
    const { statements } = ts.createSourceFile('context.ts', text, ts.ScriptTarget.ES2022)
    const context = statements.find(
      (node) => ts.isInterfaceDeclaration(node) && node.name.text === 'Context',
    ) as ts.InterfaceDeclaration
    expect(context.members.length).toBeLessThanOrEqual(12)
  })

  it('trusts one node only where nothing final depends on the answer', () => {
    const uses = paths
      .filter((path) => !isTest(path) && path !== 'chains/rpc/nodes.ts')
      .flatMap((path) => usesOfOneNode(path, readFileSync(resolve(SRC, path), 'utf8')))
    const rows = Object.keys(ONE_NODE)
    const isListed = (use: string) => rows.some((row) => use.startsWith(row))
    expect(
      uses.filter((use) => !isListed(use)),
      'functions without a row',
    ).toEqual([])
    const isUsed = (row: string) => uses.some((use) => use.startsWith(row))
    expect(
      rows.filter((row) => !isUsed(row)),
      'rows without a function',
    ).toEqual([])
  })
})

describe('the rules of this test', () => {
  const problems = (path: string, text: string) => problemsOf(read(path, text))

  it.each([
    ['registry/a.ts', "import { x } from '../db/b.js'"],
    ['registry/a.ts', "import type { Config } from '../config/index.js'"],
    ['chains/a.ts', "import { readConfig } from '../config/index.js'"],
    ['db/a.ts', "export * from '../chains/chain.js'"],
    ['db/a.ts', "import type { x } from '../api/limits/b.js'"],
    ['indexer/a.ts', "import { x } from '../relayer/b.js'"],
    ['api/a.ts', "import { hubAbi } from '../../contracts/evm/artifacts/Hub.js'"],
    ['chains/a.ts', "import { x } from '../../scripts/b.js'"],
    ['api/a.ts', "const b = await import('../indexer/b.js')"],
    ['api/v1/a.ts', "type T = import('../../relayer/b.js').T"],
    ['cli/dev.ts', "import { startStack } from '../testing/index.js'"],
    ['relayer/a.ts', "import type { x } from '../testing/index.js'"],
    ['db/a.ts', "import { x } from './b.test.js'"],
    ['api/a.ts', "import { x } from '../web/page/lib/b.js'"],
    ['db/a.ts', 'const url = process.env.DATABASE_URL'],
    ['db/a.ts', 'const { env } = process'],
    ['db/a.ts', "import { env } from 'node:process'"],
    ['indexer/a.ts', `client.query(\`UPDATE chains SET x = \${1}\`)`],
    ['db/a.ts', "db.query({ name: 'a', text: 'SELECT 1' })"],
    ['db/a.ts', 'const named = { name, text }'],
    ['db/pg/a.ts', `const text = \`SELECT \${x} FROM leaders\``],
    ['db/pg/a.ts', "const tables = ['names']"],
    ['db/pg/a.ts', "import { x } from '../journal/head.js'"],
    ['db/a.ts', "const { PrismaClient } = await import('./generated/client.js')"],
    ['daemon/a.ts', 'client.query(`\n  SET LOCAL work_mem = 1`)'],
    ['daemon/a.ts', "import { start } from '../cli/start.js'"],
  ])('find the problem in %s: %s', (path, text) => {
    expect(problems(path, text)).toHaveLength(1)
  })

  it.each([
    ['registry/a.ts', "import { x } from './b.js'\nimport { y } from 'viem'"],
    ['chains/evm/a.ts', "import { hubAbi } from '../../../contracts/evm/artifacts/Hub.js'"],
    [
      'chains/a.ts',
      "import type { Config } from '../config/index.js'\nimport { x } from '../registry/b.js'",
    ],
    ['cli/dev.ts', "const { startStack } = await import('../testing/index.js')"],
    [
      'cli.ts',
      "import { readConfig } from './config/index.js'\nimport { start } from './daemon/index.js'",
    ],
    ['db/a.ts', "db.query('SELECT 1')"],
    ['db/a.ts', "db.query('SELECT FROM names')"],
    ['db/pg/a.ts', "import type { x } from '../generated/client.js'\nconst { names } = y"],
    ['api/a.ts', "const type = 'UPDATE_WALLET_NAME'"],
    ['db/a.test.ts', "import { x } from '../testing/b.js'\nconst e = process.env"],
    ['db/a.ts', "process.on('exit', f)\nconst { pid } = { pid: process.pid }\nchild.process.env"],
  ])('find none in %s: %s', (path, text) => {
    expect(problems(path, text)).toEqual([])
  })
})

it.each([
  ['const a = () => rpc.onOneNode(work)', ['x.ts a']],
  ['class B { c() { return this.rpc.inTurn(read) } }', ['x.ts c']],
  ['const d = { e: () => rpc.call("m", []) }', ['x.ts e']],
  ['function f() { return createEvmRpc({ urls }).call("m", []) }', ['x.ts f']],
  ['const g = () => chain.rpc.onEveryNode(ask)', ['x.ts g']],
  ['const h = () => rpc.onEveryNode(ask, 2)', []],
  ['const i = () => rpc.quorum((call) => call("m", []))', []],
  ['const j = () => transport.call("GET", "/")', []],
])('the use of one node is found: %s', (text, uses) => {
  expect(usesOfOneNode('x.ts', text)).toEqual(uses)
})

it('every package is pinned by its digest, except the binaries of two libraries for platforms that were unavailable', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const known = /^$|\/(litesvm|surfpool-sdk)-(darwin|linux-arm64|linux-x64-musl)/
  expect(
    Object.keys(packages).filter((path) => !packages[path].integrity && !known.test(path)),
  ).toEqual([])
})
