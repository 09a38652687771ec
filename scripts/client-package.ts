/**
 * Builds the package `clusterd-client` from src/client: its entries as ES modules and as CommonJS, their types, and a
 * package.json of the same version as ours. The code is not minified, because a stack trace shows it. What reads
 * signatures is a file apart, which `verifyBundle` loads.
 *
 *   tsx scripts/client-package.ts [folder, by default dist-client]
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin, transform } from 'esbuild'
import { ROOT, TSC } from './files.js'

/** Source of each entry, by its name: `verify` is imported as `clusterd-client/verify`, `index` as `clusterd-client`. */
const ENTRIES: Readonly<Record<string, string>> = {
  index: 'src/client/index.ts',
  verify: 'src/client/verify.ts',
  react: 'src/client/react/index.ts',
}
/** What the entries import. `index` imports none of them. */
const DEPENDENCIES = {
  '@noble/curves': '^1.9.7',
  '@noble/hashes': '^1.8.0',
  '@scure/base': '^1.2.6',
}
/** Syntax of the code: of 2021's browsers, and what Babel's preset of React Native translates. */
const TARGET = 'es2022'
/** What the hooks import, and applications of React have. */
const PEERS = { react: '^18 || ^19', '@tanstack/react-query': '^5.80.0' }

const PORTABLE = join(ROOT, 'scripts/client-portable.ts')

/** Puts `client-portable.ts` in place of Node's Buffer and of the modules that need Node. */
const portable: Plugin = {
  name: 'portable',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^\..*\/(ed25519|keccak|sha256)\.js$|^(viem|bs58)$/ }, ({ importer }) =>
      importer.startsWith(join(ROOT, 'src')) ? { path: PORTABLE } : null,
    )
    // not by `inject`, which would have each entry import the dependencies of all
    onLoad({ filter: /\/src\/registry\/.*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      const before = /\bBuffer\./.test(text) ? `import { Buffer } from '${PORTABLE}'\n` : ''
      return { contents: before + text, loader: 'ts' }
    })
  },
}

/** Builds the package `clusterd-client`. @param folder absolute; its contents are removed first */
export async function buildClientPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES,
    outdir: join(folder, 'esm'),
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    plugins: [portable],
    platform: 'browser',
    format: 'esm',
    target: TARGET,
    // takes the comments out; the lines come back below
    minifyWhitespace: true,
    write: false,
  })
  // each module separately, so that the entries share one class of errors in CommonJS, too
  for (const { path, text } of outputFiles)
    for (const format of ['esm', 'cjs'] as const) {
      const { code } = await transform(text, {
        format,
        platform: 'node',
        target: TARGET,
        // `require` in CommonJS, because Jest has no `import()`
        supported: { 'dynamic-import': format === 'esm' },
        // the readers are a third shorter so; `verifyBundle` wraps what they throw
        minifyIdentifiers: basename(path).startsWith('bundle-'),
        minifySyntax: basename(path).startsWith('bundle-'),
      })
      write(join(folder, format, basename(path)), code)
    }
  writeTypes(folder)
  writeManifests(folder)
  copyFileSync(join(ROOT, 'src/client/README.md'), join(folder, 'README.md'))
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
}

/** Writes the declarations that the entries reach, without indentation, which is a tenth of the package. */
function writeTypes(folder: string): void {
  const made = `${folder}.types`
  try {
    const options = ['-p', 'tsconfig.client.json', '--outDir', made]
    execFileSync(process.execPath, [TSC, ...options], { cwd: ROOT, stdio: 'inherit' })
    const files = new Set(Object.values(ENTRIES).map(typesOf))
    for (const file of files) {
      const text = readFileSync(join(made, file), 'utf8')
      for (const [, imported] of text.matchAll(/(?:from |import\()['"](\..*?)\.js['"]/g))
        files.add(join(dirname(file), `${imported}.d.ts`))
      // comments on the log's functions that only our own code calls are left out
      const shown = file.startsWith('client/') ? text : text.replaceAll(/^ *\/\*\*.*?\*\/\n/gms, '')
      write(join(folder, 'types', file), shown.replaceAll(/^ +/gm, ''))
    }
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

/** Path of an entry's declarations: `src/client/verify.ts` has `client/verify.d.ts`. */
const typesOf = (source: string): string => source.replace('src/', '').replace(/\.tsx?$/, '.d.ts')

function writeManifests(folder: string): void {
  const { version, keywords, homepage, bugs, repository, license, publishConfig } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  )
  const entries = Object.entries(ENTRIES).map(([name, source]): EntryFiles & { name: string } => ({
    name,
    types: `./types/${typesOf(source)}`,
    require: `./cjs/${name}.js`,
    default: `./esm/${name}.js`,
  }))
  writeJson(join(folder, 'package.json'), {
    name: 'clusterd-client',
    version,
    description:
      'Client of clusterd, the service behind wallet bundles and names, for browsers, React Native, Workers and Node.',
    keywords,
    homepage,
    bugs,
    repository,
    license,
    type: 'module',
    sideEffects: false,
    ...legacyFields('', entries[0]!),
    exports: {
      ...Object.fromEntries(
        entries.map(({ name, ...files }) => [name === 'index' ? '.' : `./${name}`, files]),
      ),
      './package.json': './package.json',
    },
    dependencies: DEPENDENCIES,
    peerDependencies: PEERS,
    peerDependenciesMeta: Object.fromEntries(
      Object.keys(PEERS).map((name) => [name, { optional: true }]),
    ),
    publishConfig,
  })
  // the declarations serve `import` and `require`: TypeScript lets both import those of CommonJS
  for (const part of ['cjs', 'types'])
    writeJson(join(folder, part, 'package.json'), { type: 'commonjs' })
  // for what does not read `exports`: `moduleResolution` node10, Jest before 28, Metro before 0.82
  for (const entry of entries.slice(1))
    writeJson(join(folder, entry.name, 'package.json'), legacyFields('.', entry))
}

type EntryFiles = Record<'types' | 'require' | 'default', `./${string}`>

/** Fields of a package.json for readers that know no `exports`. @param up `.` for a folder below the package's */
const legacyFields = (up: '' | '.', entry: EntryFiles) => ({
  main: `${up}${entry.require}`,
  module: `${up}${entry.default}`,
  types: `${up}${entry.types}`,
})

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const writeJson = (path: string, value: object): void =>
  write(path, `${JSON.stringify(value, null, 2)}\n`)

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  await buildClientPackage(resolve(process.argv[2] ?? join(ROOT, 'dist-client')))
