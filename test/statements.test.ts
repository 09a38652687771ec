import { readdirSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { Command } from 'commander'
import { describe, expect, it, vi } from 'vitest'
import { ERROR_STATUS } from '../src/api/http/errors.js'
import { DOCUMENTS, ROOT, read, rowsOf, shellOf, spansOf } from './support/documents.js'

/** What the documents say of commands, options, routes, names and headings, held against what is there. */

const TEXTS = [...DOCUMENTS, 'SECURITY.md', 'contracts/README.md'].map((path) => ({ path, text: read(path) }))

/** The command line, as `src/cli.ts` builds it; its parse only hands it over. */
const program = await (async () => {
  let built = new Command()
  const parse = vi.spyOn(Command.prototype, 'parseAsync').mockImplementation(async function (this: Command) {
    built = this
    return this
  })
  await import('../src/cli.js')
  parse.mockRestore()
  return built
})()

/** What follows the name where no command is meant: connections in `pg_stat_activity`, texts of our own. */
const NO_COMMANDS = new Set(['read', 'write', 'index', 'relay', 'listener', 'probe'].concat('local', 'operator'))

const below = (command: Command, name: string): Command | undefined =>
  command.commands.find((one) => one.name() === name)

/** Long options of a command and of what it runs by default. */
function optionsOf(command: Command): string[] {
  const preset = command.commands.find((one) => one === defaultOf(command))
  return ['--help', ...command.options.map(({ long }) => long!), ...(preset ? optionsOf(preset) : [])]
}
const defaultOf = (command: Command) =>
  below(command, (command as unknown as { _defaultCommandName: string | null })._defaultCommandName ?? '')

const allOptions = (command: Command): string[] => [...optionsOf(command), ...command.commands.flatMap(allOptions)]

/** Words and options after `clusterd` that it does not know. */
function unknownIn(words: readonly string[], command = program): string[] {
  const [word = '', ...rest] = words
  if (word === '') return []
  if (word === '--') return unknownIn(rest, command)
  if (word.startsWith('--')) {
    const isKnown = optionsOf(command).includes(word.split('=')[0]!)
    return [...(isKnown ? [] : [word]), ...unknownIn(rest, command)]
  }
  const next = below(command, word)
  if (next) return unknownIn(rest, next)
  const isWrong = command.commands.length > 0 && /^[a-z][a-z-]*$/.test(word)
  return isWrong ? [word] : unknownIn(rest, command)
}

/** Commands of a snippet: what follows its last `clusterd`, or begins with a command and its subcommand or option. */
function commandsIn(snippet: string): string[][] {
  return snippet.split(/&&|[|;]/).flatMap((part) => {
    const after = /^(?:.*\s|)clusterd(?: --)? ([a-z-].*)$/.exec(part.trim())?.[1]
    const words = (after ?? part).trim().replace(/["')]/g, '').split(/\s+/)
    if (after) return NO_COMMANDS.has(words[0]!) ? [] : [words]
    const command = below(program, words[0]!)
    return command && (words[1]?.startsWith('--') || below(command, words[1] ?? '')) ? [words] : []
  })
}

const wrongCommands = (text: string): string[] => [
  ...[...spansOf(text), ...shellOf(text)].flatMap(commandsIn).flatMap((words) => {
    const unknown = unknownIn(words)
    return unknown.length > 0 ? [`clusterd ${words.join(' ')}: ${unknown.join(', ')}`] : []
  }),
  ...rowsOf(text).flatMap(([first = '', ...cells]) => {
    const command = below(program, /^`clusterd ([a-z]+)`$/.exec(first)?.[1] ?? '')
    const named = command ? spansOf(cells.join(' ')).filter((span) => /^--[a-z-]+$/.test(span)) : []
    return named.filter((option) => !allOptions(command!).includes(option)).map((option) => `${first}: ${option}`)
  }),
]

const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }

/** Options that the text of a script names, as it reads them itself or by `parseArgs`. */
const optionsOfScript = (text: string): string[] => [
  ...[...text.matchAll(/'(--[a-z\d-]+)'/g)].map(([, option]) => option!),
  ...[...text.matchAll(/'?([a-z-]+)'?: \{ type: '(?:string|boolean)'/g)].map(([, name]) => `--${name}`),
]

/** `npm run` of a script or with an option that there is none of; a program of npm's has options of its own. */
function wrongScripts(text: string): string[] {
  const all = [...spansOf(text), ...shellOf(text)].flatMap((code) => [
    ...code.matchAll(/npm run (?:-s )?([\w:-]+)(?: -- ([^&|;]*))?/g),
  ])
  return all.flatMap(([run, name, rest = '']) => {
    const line = Object.hasOwn(scripts, name!) ? scripts[name!]! : null
    if (line === null) return [run]
    const file = /tsx (scripts\/\S+)/.exec(line)?.[1]
    const own = file ? [...optionsOfScript(read(file)), '--check'] : null
    return own
      ? (rest.match(/--[a-z-]+/g) ?? []).filter((one) => !own.includes(one)).map((one) => `${name} ${one}`)
      : []
  })
}

const anyOption = new Set([
  ...allOptions(program),
  ...readdirSync(join(ROOT, 'scripts')).flatMap((file) =>
    file.endsWith('.ts') ? optionsOfScript(read(`scripts/${file}`)) : [],
  ),
])
/** Of npm, Stryker, Node and etcd. */
const FOREIGN_OPTIONS = ['--omit', '--mutate', '--max-semi-space-size', '--enable-v2']

const wrongOptions = (text: string): string[] =>
  spansOf(text)
    .flatMap((span) => /^--[a-z\d-]+/.exec(span)?.[0] ?? [])
    .filter((option) => !anyOption.has(option) && !FOREIGN_OPTIONS.includes(option))

const routes = ['docs/openapi.json', 'docs/openapi-v0.1.json'].flatMap((path) => {
  const { paths } = JSON.parse(read(path)) as { paths: Record<string, Record<string, unknown>> }
  return Object.entries(paths).flatMap(([route, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), parts: route.split('/').slice(1) })),
  )
})

/** Routes that do not exist; where no method is named, a beginning of one, with or without `…`, is one. */
function wrongRoutes(text: string): string[] {
  const named = [...text.matchAll(/(?:\b(GET|POST|PUT|PATCH|DELETE) )?(?<![\w.])(\/v(?:0\.)?1\/[\w.:/{}…-]*[\w}…])/g)]
  return named.flatMap(([whole, method, path]) => {
    const parts = path!.split('/').slice(1)
    const isOpen = !method || parts.at(-1) === '…'
    const given = parts.filter((part) => part !== '…')
    const isThere = routes.some(
      (route) =>
        (!method || route.method === method) &&
        (isOpen ? route.parts.length >= given.length : route.parts.length === given.length) &&
        given.every((part, i) => route.parts[i] === part || /^\{/.test(route.parts[i]!)),
    )
    return isThere ? [] : [whole]
  })
}

const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .trim()
    .replaceAll(' ', '-')

const headingsOf = (path: string): string[] =>
  [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => slugOf(heading!))

const wrongAnchors = (path: string, text: string): string[] =>
  [...text.matchAll(/\]\((?!https?:)([^)\s#]*)#([^)\s]+)\)/g)].flatMap(([link, target, anchor]) =>
    headingsOf(target ? normalize(join(dirname(path), target)) : path).includes(anchor!) ? [] : [link],
  )

const sourceFiles = [
  ...['src', 'contracts', 'prisma', 'examples', 'scripts', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  ),
  ...readdirSync(ROOT),
]
  .filter((file) => /\.(ts|tsx|sql|prisma|sol|rs|json|ya?ml|cfg|ini|conf|service)$|file$/.test(file))
  .filter((file) => !/generated|node_modules|artifacts|package-lock|statements\.test/.test(file))

/** Every word of the sources and of their paths, this file and generated ones left out. */
const words = new Set(sourceFiles.flatMap((file) => `${file} ${read(file)}`.match(/\w+/g) ?? []))

/** Names of PostgreSQL, Patroni, LayerZero and other programs, which stand in no source of ours. */
const FOREIGN = new Set(
  `archive_mode pg_dump pg_restore NEW_DATABASE_URL target_session_attrs synchronous_mode_strict _update_leader shared_memory_size_in_huge_pages nr_hugepages
   Executor_NativeAmountExceedsCap EventParser record_send RateLimit _MS _WEI _BLOCKS LIMIT_ authToken`.split(/\s+/),
)

/** Names in backticks (with `_`, or a capital letter within) that stand in no source: variables, codes, columns. */
const wrongNames = (text: string): string[] =>
  [...spansOf(text), ...shellOf(text)]
    .flatMap((span) => span.match(/\b[A-Za-z_]\w*/g) ?? [])
    .filter((word) => /_|[a-z][A-Z]/.test(word) && !words.has(word) && !FOREIGN.has(word))

/** `name` in `file`, of which the file has none. */
const misplacedNames = (text: string): string[] =>
  [...text.matchAll(/`(\w+)`\s(?:in|to|of)\s`((?:src|test|scripts|contracts)\/[\w./-]+\.\w+)`/g)]
    .filter(([, name, file]) => !read(file!).includes(name!))
    .map(([statement]) => statement)

describe.each(TEXTS)('$path', ({ path, text }) => {
  it('names commands, scripts and options that there are', () => {
    expect([...wrongCommands(text), ...wrongScripts(text), ...wrongOptions(text)]).toEqual([])
  })

  it('names routes that there are', () => {
    expect(wrongRoutes(text)).toEqual([])
  })

  it('names variables, codes, columns and functions that stand somewhere in the sources', () => {
    // the left columns of its tables are what published clients call their functions
    const ours = path === 'docs/client.md' ? text.replace(/^\| `[^|]*\|/gm, '') : text
    expect(wrongNames(ours)).toEqual([])
    expect(misplacedNames(text)).toEqual([])
  })

  it('links headings that there are', () => {
    expect(wrongAnchors(path, text)).toEqual([])
  })
})

describe('docs/configuration.md', () => {
  const text = read('docs/configuration.md')

  it('has every variable, with its default and its greatest value', () => {
    const own = /^CLUSTERD_(PARENT_PID|FAILPOINT)$/ // of our launcher and tests
    const variables = [...read('src/config/environment.ts').matchAll(/^ {2}([A-Z][A-Z0-9_]+): (.*)$/gm)]
    expect(variables.length).toBeGreaterThan(40)
    const wrong = variables.flatMap(([, name, schema]) => {
      const row = rowsOf(text).find(([first]) => first!.includes(`\`${name}\``))
      if (!row) return own.test(name!) ? [] : [name]
      const numbers = (pattern: RegExp) => pattern.exec(schema!)?.[1]?.replaceAll('_', '')
      const preset = numbers(/\.default\('?([a-z\d._]+)'?\)/)
      const most = numbers(/\.max\(([\d_]+)\)/)
      return [
        ...(preset && !row[1]!.includes(preset) ? [`${name}: ${preset}`] : []),
        ...(most && !row.join(' ').replaceAll(',', '').includes(most) ? [`${name}: at most ${most}`] : []),
      ]
    })
    expect(wrong).toEqual([])
  })

  it('has every field of the chains file', () => {
    const schemas = ['evmChain', 'chainsFile', 'deployment'].map((file) => read(`src/config/${file}.ts`)).join('\n')
    const objects = [...schemas.matchAll(/strictObject\(\{([\s\S]*?)\n {0,6}\}\)/g)].map(([, fields]) => fields!)
    const fields = objects.flatMap((object) => [...object.matchAll(/^\s+(\w+)(?::|$)/gm)].map(([, field]) => field!))
    expect(fields.length).toBeGreaterThan(50)
    // `kind` has one value
    const missing = fields.filter((field) => !new RegExp(`[\`"\\s]${field}["\`\\s]`).test(text) && field !== 'kind')
    expect(missing).toEqual([])
  })
})

/** Commands that messages, comments and the examples of `--help` name. */
const namedInSource = (text: string): string[] =>
  [...text.matchAll(/(?:`|^ +)(clusterd [a-z][^`\\\n]*)/gm)].flatMap(([, command]) =>
    commandsIn(command!.replace(/\$\{[^}]*\}|\s#.*| {2,}.*/g, '')).flatMap((words) => {
      const unknown = unknownIn(words)
      return unknown.length > 0 ? [`clusterd ${words.join(' ')}: ${unknown.join(', ')}`] : []
    }),
  )

it('messages and help name commands, options and documents that there are', () => {
  const sources = sourceFiles.filter((file) => /^(src|examples\/deploy)\//.test(file)).map(read)
  expect(sources.join('\n').match(/`clusterd /g)!.length).toBeGreaterThan(100)
  expect(sources.flatMap(namedInSource)).toEqual([])
  const documents = sources.flatMap((text) => text.match(/\bdocs\/[\w.-]+\.md\b/g) ?? [])
  expect(documents.filter((path) => !DOCUMENTS.includes(path))).toEqual([])
  expect(
    namedInSource("throw new Error('run `clusterd doctor --all` first')\n  clusterd keys cut <id>  for ever"),
  ).toHaveLength(2)
})

it('docs/client.md has every code of an error, beside its status', () => {
  const rows = rowsOf(read('docs/client.md'))
  const missing = Object.entries(ERROR_STATUS).filter(
    ([code, status]) => !rows.some((row) => row[0]!.includes(String(status)) && row[1]?.includes(`\`${code}\``)),
  )
  expect(missing).toEqual([])
})

describe('the checks', () => {
  it.each([
    ['an option', 'run `clusterd start --fast`'],
    ['a command', '```sh\nnpx clusterd begin   # at once\n```\n'],
    ['a command below one', 'see `clusterd outbox drop <id>`'],
    ['an option of a part', 'see `outbox list --tidy`, or `import --check`'],
    ['an option in a row', '| `clusterd replay` | with `--rules` it folds |'],
  ])('find %s of the command line that is made up', (_, text) => {
    expect(wrongCommands(text)).toHaveLength(1)
  })

  it('find what else is made up', () => {
    expect(wrongScripts('`npm run nothing`, `npm run chaos -- --seed 1 --loud`')).toEqual([
      'npm run nothing',
      'chaos --loud',
    ])
    expect(wrongOptions('with `--never`, or `--minutes 3`')).toEqual(['--never'])
    expect(wrongRoutes('`GET /v1/events`, `PUT /v1/events`, `/v1/auth/…`, `/v1/nowhere/x`')).toEqual([
      'PUT /v1/events',
      '/v1/nowhere/x',
    ])
    expect(
      wrongNames(
        '`DATABASE_URL`, `DATABASE_URI`, `not_found`, `not_lost`, `clusterd_moons`, `maxGasPriceWei`, `maxGasPriceGwei`',
      ),
    ).toEqual(['DATABASE_URI', 'not_lost', 'clusterd_moons', 'maxGasPriceGwei'])
    expect(misplacedNames('`ENTRY_KIND` in `src/ops/alarms.ts`')).toHaveLength(1)
    expect(wrongAnchors('README.md', '[a](docs/client.md#errors) [b](docs/client.md#terrors) [c](#limits)')).toEqual([
      '](docs/client.md#terrors)',
    ])
  })
})
