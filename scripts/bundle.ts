/**
 * The last step of `npm run build`. Bundles the libraries that a build imports into `libraries` inside of it, each
 * shared module once and without unused exports: a start finds and reads some 40 files in place of 800. Then bundles
 * our own files that `cli.js` runs into `program`, because Node takes a while to load each of 400 files. The two
 * bundles stay apart, so that the log can distinguish our stack frames from those of libraries. The single files stay
 * too, for importers of the package.
 *
 *   tsx scripts/bundle.ts [folder of the build]
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'

const ROOT = join(import.meta.dirname, '..')
const PROGRAM = 'program'
/** esbuild options of both bundles. */
const BUNDLED = {
  bundle: true,
  splitting: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  absWorkingDir: ROOT,
  logLevel: 'error',
} as const
/** Matches static and dynamic imports of libraries. Groups: the import clause, the quote, the library. */
const IMPORT = /(?<=^(?:import|export) ([^'"();]*) from |\bimport\()(['"])([^.'"][^'"]*)\2/gm
/** First line of the bundles: defines `require`, which CommonJS modules need inside an ES module. */
const REQUIRE = `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);`
/** Modules that are not bundled: optional parts of libraries, and Node's own modules. */
const EXTERNAL = ['pg-native', ...builtinModules]

/**
 * Replaces node-fetch, which Solana's libraries load and hardly use, by Node's own fetch: node-fetch loads `punycode`,
 * which is deprecated since Node 21.
 */
const ownFetch: Plugin = {
  name: 'own-fetch',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node-fetch$/ }, ({ path }) => ({ path, namespace: 'own-fetch' }))
    const contents = 'module.exports = { default: fetch, Headers, Request, Response }'
    onLoad({ filter: /./, namespace: 'own-fetch' }, () => ({ contents }))
  },
}

/**
 * Leaves out parts of libraries that no code of ours runs: Express's parsers of bodies, whose tables of character sets are
 * half of it, and the tracing of prom-client's exemplars. A start would read their text and keep it in memory.
 */
const withoutUnused: Plugin = {
  name: 'without-unused',
  setup({ onResolve, onLoad }) {
    const filter = /^(?:body-parser|@opentelemetry\/api)$/
    onResolve({ filter }, ({ path }) => ({ path, namespace: 'unused' }))
    onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'module.exports = {}' }))
  },
}

/** Leaves out zod's messages in other languages: fifty languages are half of zod, which is read at every start. */
const inEnglish: Plugin = {
  name: 'in-english',
  setup({ onLoad }) {
    const contents = "export { default as en } from './en.js'"
    onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, ({ path }) => ({
      contents,
      resolveDir: dirname(path),
    }))
  },
}

/** Node 21's `navigator`: without it, `pg` loads Node 20's `fetch` to detect the platform. */
const NAVIGATOR = { navigator: '{ "userAgent": "Node.js" }' }

/** esbuild options for bundles of libraries, in a build and for tests. */
export const LIBRARIES = {
  ...BUNDLED,
  banner: { js: REQUIRE },
  define: NAVIGATOR,
  plugins: [ownFetch, inEnglish, withoutUnused],
}

const isLibrary = (name: string): boolean =>
  !name.startsWith('node:') && !builtinModules.includes(name)
const fileOf = (library: string): string => `${library.replaceAll(/[^\w.-]/g, '_')}.mjs`

/** Exports of a library that an import clause uses. `import()` and `* as` use all exports. */
async function namesOf(library: string, clause: string | undefined): Promise<string[]> {
  if (!clause || clause.includes('*'))
    return Object.keys(await import(library)).filter(
      (name) => /^\w+$/.test(name) && name !== '__esModule',
    )
  const [, byDefault, named = ''] = /^(\w+)?[, ]*(?:\{(.*)\})?/s.exec(clause)!
  const names = named.split(',').map((name) => name.trim().split(' ')[0]!)
  return [...(byDefault ? ['default'] : []), ...names.filter((name) => name !== '')]
}

/** Bundles the libraries of a build. @param folder folder of the build, below the project's */
export async function bundleLibraries(folder: string): Promise<void> {
  const taken = new Map<string, Set<string>>()
  const target = join(folder, 'libraries')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.js'),
  )
  for (const file of files) {
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, clause, , library] of text.matchAll(IMPORT)) {
      if (!isLibrary(library!)) continue
      if (!taken.has(library!)) taken.set(library!, new Set())
      for (const name of await namesOf(library!, clause)) taken.get(library!)!.add(name)
    }
    const toTarget = relative(join(folder, file, '..'), target)
    const path = (library: string) =>
      `${toTarget.startsWith('.') ? '' : './'}${toTarget}/${fileOf(library)}`
    const linked = text.replace(IMPORT, (found, _, quote, library) =>
      isLibrary(library) ? `${quote}${path(library)}${quote}` : found,
    )
    if (linked !== text) writeFileSync(join(folder, file), linked)
  }
  mkdirSync(target, { recursive: true })
  for (const [library, names] of taken)
    writeFileSync(
      join(target, fileOf(library)),
      `export { ${[...names].join(', ')} } from '${library}'\n`,
    )
  const { metafile } = await build({
    entryPoints: [...taken.keys()].map((library) => join(target, fileOf(library))),
    outdir: target,
    allowOverwrite: true,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'shared-[hash]',
    ...LIBRARIES,
    // a process keeps the text of its modules in memory; the limit keeps lines short in the reports of crashes
    minifyWhitespace: true,
    lineLimit: 120,
    external: EXTERNAL,
    metafile: true,
  })
  writeFileSync(join(target, 'LICENSES'), licensesOf(Object.keys(metafile.inputs)))
}

/** Bundles our own files that a build's `cli.js` runs. @param folder folder of the build, its libraries bundled */
async function bundleProgram(folder: string): Promise<void> {
  const cli = join(folder, 'cli.js')
  await build({
    entryPoints: [cli],
    outdir: join(folder, PROGRAM),
    chunkNames: 'part-[hash]',
    ...BUNDLED,
    sourcemap: true,
    sourcesContent: false,
    plugins: [inPlace(folder)],
  })
  writeFileSync(cli, `#!/usr/bin/env node\nimport './${PROGRAM}/cli.js'\n`)
}

/** Plugin: a bundled file finds other files as if it were still in its place in the build. Libraries are left out. */
const inPlace = (folder: string): Plugin => ({
  name: 'in-place',
  setup({ onResolve, onLoad }) {
    const library = ({ path }: { path: string }) => ({
      path: `../libraries/${basename(path)}`,
      external: true,
    })
    onResolve({ filter: /\/libraries\/[^/]+\.mjs$/ }, library)
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const url = `new URL('../${relative(folder, path)}', import.meta.url).href`
      return { contents: readFileSync(path, 'utf8').replaceAll('import.meta.url', url) }
    })
  },
})

/** Bundles the libraries and the program of a build. @param folder folder of the build, below the project's */
export async function bundle(folder: string): Promise<void> {
  // the row types of Prisma's schema, which no code loads
  rmSync(join(folder, 'db/generated'), { recursive: true, force: true })
  await bundleLibraries(folder)
  await bundleProgram(folder)
}

/** Text with the licenses of the packages from which the files are. */
function licensesOf(files: readonly string[]): string {
  const packageOf = (file: string) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0]
  const packages = [...new Set(files.map(packageOf))].filter((one) => one !== undefined).sort()
  return packages
    .map((one) => {
      const { name, version, license } = JSON.parse(
        readFileSync(join(ROOT, one, 'package.json'), 'utf8'),
      )
      const file = readdirSync(join(ROOT, one)).find((entry) => /^licen[cs]e/i.test(entry))
      return `${name} ${version} (${license})\n\n${file ? readFileSync(join(ROOT, one, file), 'utf8').trim() : ''}`
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`)
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  await bundle(join(ROOT, process.argv[2] ?? 'dist'))
