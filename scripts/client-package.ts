/**
 * Builds the package `clusterd-client`, what a browser needs of clusterd, from src/client: two bundles without
 * dependencies, and a part that `verifyBundle` loads, their types, and a package.json of the same version as ours.
 *
 *   tsx scripts/client-package.ts [folder, by default dist-client]
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'
import { ROOT } from './files.js'

const ENTRIES = ['index', 'verify']

/** The readers of signatures, which only `verifyBundle` loads. */
const READERS = 'src/registry/auth/bundle.ts'
const PORTABLE = join(ROOT, 'scripts/client-portable.ts')

/** Leaves the readers to a file of their own. */
const withoutReaders: Plugin = {
  name: 'without readers',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/auth\/bundle\.js$/ }, () => ({ path: './readers.js', external: true })),
}

/** Puts `client-portable.ts` in place of the modules that need Node. */
const portable: Plugin = {
  name: 'portable',
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/(ed25519|keccak|sha256)\.js$|^viem$/ }, ({ importer }) =>
      importer.startsWith(join(ROOT, 'src')) ? { path: PORTABLE } : null,
    ),
}

const COMMON: BuildOptions = {
  absWorkingDir: ROOT,
  bundle: true,
  splitting: true,
  minify: true,
  platform: 'browser',
  format: 'esm',
  target: 'es2022',
}

/** Builds the package `clusterd-client`. @param folder absolute; its contents are removed first */
export async function buildClientPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  await build({
    ...COMMON,
    entryPoints: ENTRIES.map((entry) => `src/client/${entry}.ts`),
    outdir: folder,
    plugins: [withoutReaders],
  })
  await build({
    ...COMMON,
    entryPoints: { readers: READERS },
    outdir: folder,
    plugins: [portable],
    inject: [PORTABLE],
  })
  writeTypes(folder)
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
  copyFileSync(join(ROOT, 'src/client/README.md'), join(folder, 'README.md'))
  copyFileSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
}

/** Writes the declarations that the entries reach, without indentation, which is a tenth of the package. */
function writeTypes(folder: string): void {
  const made = `${folder}.types`
  try {
    const options = ['-p', 'tsconfig.client.json', '--outDir', made]
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), options, { cwd: ROOT, stdio: 'inherit' })
    const files = new Set(ENTRIES.map((entry) => `client/${entry}.d.ts`))
    for (const file of files) {
      const text = readFileSync(join(made, file), 'utf8')
      for (const [, imported] of text.matchAll(/(?:from |import\()['"](\..*?)\.js['"]/g))
        files.add(join(dirname(file), `${imported}.d.ts`))
      const target = join(folder, 'types', file)
      mkdirSync(dirname(target), { recursive: true })
      // comments on the log's functions that only our own code calls are left out
      const shown = file.startsWith('client/') ? text : text.replaceAll(/^ *\/\*\*.*?\*\/\n/gms, '')
      writeFileSync(target, shown.replaceAll(/^ +/gm, ''))
    }
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

function manifest(): object {
  const { version, license, repository, publishConfig } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  )
  const entry = (name: string) => ({
    types: `./types/client/${name}.d.ts`,
    default: `./${name}.js`,
  })
  return {
    name: 'clusterd-client',
    version,
    description:
      'Client of clusterd, the service behind wallet bundles and names, for browsers and Node.',
    license,
    repository,
    type: 'module',
    sideEffects: false,
    exports: {
      '.': entry('index'),
      './verify': entry('verify'),
      './package.json': './package.json',
    },
    publishConfig,
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  await buildClientPackage(resolve(process.argv[2] ?? join(ROOT, 'dist-client')))
