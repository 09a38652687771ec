import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it, vi } from 'vitest'
import { routes } from '../scripts/declaredRoutes.js'
import {
  DOCUMENTS,
  headingsOf,
  linksOf,
  ROOT,
  read,
  rowsOf,
  shellOf,
  spansOf,
} from '../scripts/lint/documents.js'
import { ERROR_STATUS } from '../src/api/http/errors.js'
import { parseDraftChainsFile } from '../src/config/chainsFile.js'
import { WEBHOOK_MESSAGE_TYPES } from '../src/push/webhooks/deliver.js'
import { WALLET_KIND_NAMES } from '../src/registry/auth/kinds.js'
import { INVALID_REASONS, PAYMENT_REFUSALS } from '../src/registry/invalidReasons.js'
import { confirmationSchema } from '../src/registry/primitives/confirmation.js'
import { buildCommandLine } from './support/commandLine.js'

/** Checks that files, commands, options, settings and headings that the documents name exist. */

const TEXTS = [...DOCUMENTS, 'SECURITY.md', 'contracts/README.md']

// another test of this process may have loaded it
vi.resetModules()
const program = await buildCommandLine()

/**
 * Words that follow `clusterd` without being a command: names of connections in `pg_stat_activity`, and texts of our
 * own.
 */
const NO_COMMANDS = new Set(
  ['read', 'write', 'index', 'relay', 'listener', 'probe'].concat('local', 'operator'),
)

const below = (command: Command, name: string): Command | undefined =>
  command.commands.find((one) => one.name() === name)

/** Long options of a command and of what it runs by default. */
function optionsOf(command: Command): string[] {
  const preset = command.commands.find((one) => one === defaultOf(command))
  return [
    '--help',
    ...command.options.map(({ long }) => long!),
    ...(preset ? optionsOf(preset) : []),
  ]
}
const defaultOf = (command: Command) =>
  below(
    command,
    (command as unknown as { _defaultCommandName: string | null })._defaultCommandName ?? '',
  )

const allOptions = (command: Command): string[] => [
  ...optionsOf(command),
  ...command.commands.flatMap(allOptions),
]

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
    return named
      .filter((option) => !allOptions(command!).includes(option))
      .map((option) => `${first}: ${option}`)
  }),
]

/** Links to headings that a document does not have. */
const wrongAnchors = (path: string): string[] =>
  linksOf(path).flatMap(({ path: target, anchor }) =>
    anchor === '' || headingsOf(target).includes(anchor) ? [] : [`${target}#${anchor}`],
  )

/** Files and folders of the project that are named in backticks: `src/…`, `test/…`, `scripts/…`, without patterns. */
const pathsOf = (path: string): string[] =>
  [
    ...read(path).matchAll(/`((?:src|test|scripts|docs|contracts|prisma|examples)\/[\w./-]*)`/g),
  ].map(([, name]) => name!)

/** Routes of the API as methods and patterns of paths: `:name` is a part of a path, `*name` the rest of it. */
const declared = routes.flatMap(({ method, path, aliases = [] }) =>
  [path, ...aliases].map((one) => {
    const parts = one.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+').replace(/\*\w+/g, '.+')
    return { method: method.toUpperCase(), pattern: new RegExp(`^${parts}$`) }
  }),
)

/** Routes of `/v1` and `/v0.1` that a text names and the API does not have. A path with `…` or `<` is no whole path. */
const wrongRoutes = (text: string): string[] =>
  [...text.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/v[\d.]+\/[^\s`?]*)/g)].flatMap(
    ([, method, path]) =>
      /[…<]/.test(path!) ||
      declared.some((route) => route.method === method && route.pattern.test(path!))
        ? []
        : [`${method} ${path}`],
  )

const missing = (paths: readonly string[]) => paths.filter((path) => !existsSync(join(ROOT, path)))

/** Text of a file; of a folder the names and texts of all its files. */
const textBelow = (path: string): string =>
  statSync(join(ROOT, path)).isDirectory()
    ? readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.\w+$/.test(file))
        .map((file) => `${file}\n${read(join(path, file))}`)
        .join('\n')
    : read(path)

/** Phrases such as "`name` in `src/file.ts`" whose file does not have the name. */
const wrongPlaces = (text: string): string[] =>
  [
    ...text.matchAll(
      /`([\w.]+)`\s+(?:in|of|from)\s+`((?:src|test|scripts|contracts|prisma)\/[\w./-]+)`/g,
    ),
  ].flatMap(([phrase, name, path]) => (textBelow(path!).includes(name!) ? [] : [phrase]))

/** Commands of `npm run`, by their names. */
const SCRIPTS: Record<string, string> = {
  ...JSON.parse(read('package.json')).scripts,
  ...JSON.parse(read('examples/contract-harness/package.json')).scripts,
}

/** Sources of the program that `npm run <name>` starts; null where npm starts somebody else's. */
function programOf(name: string): string | null {
  const [file] = /\bscripts\/[\w-]+\.ts/.exec(SCRIPTS[name] ?? '') ?? []
  return file ? read(file) + read('scripts/generatedFile.ts') : null
}

/** Options of `npm run <name>` in a text that its program does not know. */
const unknownOptions = (name: string, text: string): string[] => {
  const sources = programOf(name)
  const options = [...text.matchAll(/(?<=^|\s|`)--([a-z][a-z-]+)/g)].map(([, option]) => option!)
  // an option of `parseArgs`, or read from `process.argv`
  const isKnown = (option: string) =>
    sources === null || new RegExp(`(?:^|[ '{])${option}'?: \\{|--${option}\\b`, 'm').test(sources)
  return options
    .filter((option) => !isKnown(option))
    .map((option) => `npm run ${name} -- --${option}`)
}

const wrongScripts = (text: string): string[] => {
  const commands = [...spansOf(text), ...shellOf(text)].flatMap((snippet) => [
    ...snippet.matchAll(/npm run (?:-s |--silent )?([a-z:-]+)([^|&;]*)/g),
  ])
  // a section of a page whose heading is the command lists the command's options
  const sections = text.split(/^## `npm run /m).slice(1)
  return [
    ...commands.flatMap(([, name, rest]) =>
      SCRIPTS[name!] === undefined ? [name!] : unknownOptions(name!, rest!),
    ),
    ...sections.flatMap((section) => {
      const body = section.split(/^## /m)[0]!.replace(/^.*\n/, '')
      const named = spansOf(body).filter((span) => span.startsWith('--'))
      return unknownOptions(/^[a-z:-]+/.exec(section)![0], named.join(' '))
    }),
  ]
}

describe.each(TEXTS)('%s', (path) => {
  const text = read(path)

  it('names only existing commands and options', () => {
    expect(wrongCommands(text)).toEqual([])
  })

  it('links only existing files and headings, and names only existing files', () => {
    const linked = linksOf(path).map((link) => link.path)
    expect(missing([...linked, ...pathsOf(path)])).toEqual([])
    expect(wrongAnchors(path)).toEqual([])
  })

  it('names only what the file beside the name has, and scripts and options that exist', () => {
    expect(wrongPlaces(text)).toEqual([])
    expect(wrongScripts(text)).toEqual([])
  })
})

describe('docs/run/configuration.md', () => {
  const text = read('docs/run/configuration.md')

  it('has every variable, with its default and its greatest value', () => {
    const own = /^CLUSTERD_(TEST_WALLET|SEEDED_ALARMS|FAILPOINT)$/ // of our launcher and tests
    const variables = [
      ...read('src/config/environment.ts').matchAll(/^ {2}([A-Z][A-Z0-9_]+): (.*)$/gm),
    ]
    expect(variables.length).toBeGreaterThan(40)
    const wrong = variables.flatMap(([, name, schema]) => {
      const row = rowsOf(text).find(([first]) => first!.includes(`\`${name}\``))
      if (!row) return own.test(name!) ? [] : [name]
      const hasStar = row[0]!.includes(`\`${name}\`*`)
      if (hasStar !== schema!.startsWith('markAsSecret(')) return [`${name}: a file for its value`]
      const numbers = (pattern: RegExp) => pattern.exec(schema!)?.[1]?.replaceAll('_', '')
      const preset = numbers(/\.default\('?([a-z\d._]+)'?\)/)
      const most = numbers(/\.max\(([\d_]+)\)/)
      return [
        ...(preset && !row[1]!.includes(preset) ? [`${name}: ${preset}`] : []),
        ...(most && !row.join(' ').replaceAll(',', '').includes(most)
          ? [`${name}: at most ${most}`]
          : []),
      ]
    })
    expect(wrong).toEqual([])
  })

  it('has every field of the chains file', () => {
    const schemas = ['evmChain', 'chainsFile', 'deployment']
      .map((file) => read(`src/config/${file}.ts`))
      .join('\n')
    const objects = [
      ...schemas.matchAll(/(?:strictObject\(|const evmChainSettings = )\{([\s\S]*?)\n {0,6}\}/g),
    ].map(([, fields]) => fields!)
    const fields = objects.flatMap((object) =>
      [...object.matchAll(/^\s+(\w+)(?::|$)/gm)].map(([, field]) => field!),
    )
    expect(fields.length).toBeGreaterThan(50)
    // `kind` has one value
    const missing = fields.filter(
      (field) => !new RegExp(`[\`"\\s]${field}["\`\\s]`).test(text) && field !== 'kind',
    )
    expect(missing).toEqual([])
  })

  it('has every form of a confirmation policy', () => {
    const row = text.split('\n').find((line) => line.startsWith('| `confirmation` |'))
    const forms = confirmationSchema.options.flatMap(({ in: form }) =>
      'options' in form
        ? form.options.map((tag) => `\`"${tag}"\``)
        : Object.keys(form.shape).map((field) => `{ "${field}": n }`),
    )
    expect(forms.length).toBeGreaterThan(2)
    for (const form of forms) expect(row).toContain(form)
  })
})

describe('docs/run/deploying.md', () => {
  it('shows chains files that are accepted', () => {
    const text = read('docs/run/deploying.md')
    const blocks = [...text.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, block]) => block!)
    expect(blocks.length).toBeGreaterThan(1)
    for (const block of blocks) {
      let count = 0
      const filled = block.replaceAll(
        /"0x…[^"]*"/g,
        () => `"0x${String(++count).padStart(40, '0')}"`,
      )
      const file = filled.startsWith('{\n  "chains"') ? filled : `{ "chains": [${filled}] }`
      expect(() => parseDraftChainsFile(JSON.parse(file), 'the page')).not.toThrow()
    }
  })

  /** Gas of a call, as test/contracts/gas.test.ts holds it. */
  const gas: Record<string, number> = JSON.parse(read('contracts/evm/gas.json'))

  it.each([
    ['paid on Solana, delivered one by one', 100 * gas['Hub: deliver, 1']!],
    ['the same, ten at once', 10 * gas['Hub: deliver, 10']!],
    ['below a community, each released one by one', 100 * gas['CommunityPayments: release, 1']!],
    ['the same, ten at once', 10 * gas['CommunityPayments: release, 10']!],
  ])('has the gas of a hundred names %s: %i', (kind, whole) => {
    const rows = rowsOf(read('docs/run/deploying.md')).filter(([first]) => first === kind)
    const shown = rows.map(([, ...cells]) =>
      cells.slice(0, 3).map((cell) => cell.replaceAll(',', '')),
    )
    const ether = (gwei: number) => (whole * gwei) / 1e9
    // two digits are shown
    const close = (text: string | undefined, amount: number) =>
      Math.abs(Number(text) - amount) <= amount / 20
    expect(
      shown.filter(
        ([used, one, twenty]) =>
          Number(used) === whole && close(one, ether(1)) && close(twenty, ether(20)),
      ),
    ).toHaveLength(1)
  })
})

it('docs/use/contract-authors.md has every event that is read from a hub or a spoke', () => {
  const page = read('docs/use/contract-authors.md')
  /** A declaration without the names of its fields, as the source has it. */
  const typesOf = (declaration: string) =>
    declaration.replaceAll(/(\w+(?: indexed)?) (?!indexed)\w+/g, '$1').replaceAll(', ', ',')
  const shown = spansOf(page.split('## Events that a watched contract emits')[1]!).map(typesOf)
  const [, ofHubAndSpoke] = /hub: \{(.*?)payments: \{/s.exec(read('src/chains/evm/events.ts'))!
  const events = [...ofHubAndSpoke!.matchAll(/parseEventShape\('([^']+)'\)/g)].map(
    ([, one]) => one!,
  )
  expect(events.length).toBeGreaterThan(6)
  // the page has the form of `Bid` with a referral in words
  const withReferral = 'Bid(bytes32,uint256,bytes32,bytes32)'
  expect(events.filter((one) => !shown.includes(one))).toEqual([withReferral])
})

it('docs/use/ens.md shows parts of a chains file that is read', () => {
  const example = JSON.parse(read('examples/chains.json'))
  const blocks = [...read('docs/use/ens.md').matchAll(/```json\n(.*?)```/gs)].map(([, json]) =>
    JSON.parse(json!.replaceAll('0x…', example.chains[0].contract)),
  )
  expect(blocks).toHaveLength(2)
  for (const block of blocks)
    expect(parseDraftChainsFile({ ...example, ...block }, 'the page')).toMatchObject(block)
})

describe('docs/use/webhooks.md', () => {
  it.each(WEBHOOK_MESSAGE_TYPES)('shows a message of the type %s', (type) => {
    expect(read('docs/use/webhooks.md')).toContain(`- \`{ "type": "${type}", "webhook": 1,`)
  })
})

describe('docs/use/clusters.md', () => {
  it.each(WALLET_KIND_NAMES)(
    'has a row for wallets of the kind %s, with their signatures',
    (kind) => {
      const row = new RegExp(`^\\| \`${kind}\` \\|(?: [^|]+ \\|){3}$`, 'm')
      expect(read('docs/use/clusters.md')).toMatch(row)
    },
  )
})

/** Commands that messages, comments and the examples of `--help` name. */
const namedInSource = (text: string): string[] =>
  [...text.matchAll(/(?:`|^ +)(clusterd [a-z][^`\\\n]*)/gm)].flatMap(([, command]) =>
    commandsIn(command!.replace(/\$\{[^}]*\}|\s#.*| {2,}.*/g, ''))
      .filter((words) => unknownIn(words).length > 0)
      .map((words) => words.join(' ')),
  )

it('messages and help name only existing commands, options and documents', () => {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  const sources = files
    .filter((file) => /^(?!.*generated).*\.tsx?$/.test(file))
    .map((file) => read(`src/${file}`))
  expect(sources.flatMap(namedInSource)).toEqual([])
  const documents = sources.flatMap((text) => text.match(/\bdocs\/[\w./-]+\.md\b/g) ?? [])
  expect(documents.filter((path) => !DOCUMENTS.includes(path))).toEqual([])
})

// the changelog names routes that are gone
it.each(TEXTS.filter((path) => path !== 'docs/run/changelog.md'))(
  '%s names only existing routes',
  (path) => {
    expect(wrongRoutes(read(path))).toEqual([])
  },
)

it('a route that is made up, or has another method, is found', () => {
  expect(wrongRoutes('`GET /v1/names/of/:address`, `GET /v1/clusters/wallets`')).toHaveLength(2)
})

it('docs/use/client.md has every code of an error, beside its status', () => {
  const rows = rowsOf(read('docs/use/client.md'))
  const missing = Object.entries(ERROR_STATUS).filter(
    ([code, status]) =>
      !rows.some((row) => row[0]!.includes(String(status)) && row[1]?.includes(`\`${code}\``)),
  )
  expect(missing).toEqual([])
})

it('docs/use/client.md has a row for every reason of an invalid transaction', () => {
  const cells = rowsOf(read('docs/use/client.md')).map((row) => row[0]!)
  const reasons = [...Object.keys(INVALID_REASONS), ...Object.keys(PAYMENT_REFUSALS)]
  expect(reasons.filter((reason) => !cells.some((cell) => cell.includes(`\`${reason}\``)))).toEqual(
    [],
  )
})

it.each([
  ['an option', 'run `clusterd start --fast`'],
  ['a command', '```sh\nnpx clusterd begin   # at once\n```\n'],
  ['a command below one', 'see `clusterd outbox drop <id>`'],
  ['an option in a row', '| `clusterd journal` | with `--rules` it folds |'],
])('%s of the command line that is made up is found', (_, text) => {
  expect(wrongCommands(text)).toHaveLength(1)
})

describe('the packages, which are in no registry yet', () => {
  const { version, name } = JSON.parse(read('package.json'))
  const fileOf = (own: string) => `${own}-${version}.tgz`
  const client = `${name}-client`

  it('are named with this version where a page installs them', () => {
    const named = DOCUMENTS.flatMap(
      (path) => read(path).match(/\bclusterd-(client-)?\d[\w.-]*\.tgz/g) ?? [],
    )
    expect(named.length).toBeGreaterThan(2)
    expect(new Set(named)).toEqual(new Set([fileOf(name), fileOf(client)]))
  })

  it.each([
    ['contract-harness', name],
    ['register', client],
  ])('are what the example %s depends on', (example, own) => {
    const { dependencies = {}, devDependencies } = JSON.parse(
      read(`examples/${example}/package.json`),
    )
    expect({ ...devDependencies, ...dependencies }[own]).toBe(`file:../../${fileOf(own)}`)
    expect(read(`examples/${example}/README.md`)).toContain(`/${fileOf(own)}`)
  })
})

describe('README.md', () => {
  it('leads to a page that names every command of the command line', () => {
    const page = read('docs/run/operations.md')
    const names = program.commands.map((command) => command.name())
    expect(names.length).toBeGreaterThan(8)
    expect(names.filter((name) => !page.includes(`| \`clusterd ${name}\` |`))).toEqual([])
  })

  it('links every document, directly or through a document that it links', () => {
    const linked = new Set(linksOf('README.md').map((link) => link.path))
    for (const path of [...linked].filter((path) => path.endsWith('.md')))
      for (const link of linksOf(path)) linked.add(link.path)
    expect(DOCUMENTS.filter((path) => path !== 'README.md' && !linked.has(path))).toEqual([])
  })
})
