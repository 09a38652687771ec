/**
 * Builds the package `clusterd-client`, what a browser needs of clusterd, from src/client: two bundles without
 * dependencies, their types, and a package.json of the same version as ours.
 *
 *   tsx scripts/client-package.ts [folder, by default dist-client]
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { ROOT } from './files.js'

const ENTRIES = ['index', 'verify', 'react/index']
/** What the hooks import, and applications of React have. */
const PEERS = { react: '^18 || ^19', '@tanstack/react-query': '^5.80.0' }

/** Builds the package `clusterd-client`. @param folder absolute; its contents are removed first */
export async function buildClientPackage(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  await build({
    absWorkingDir: ROOT,
    entryPoints: ENTRIES.map((entry) => `src/client/${entry}.ts`),
    outdir: folder,
    outbase: join(ROOT, 'src/client'),
    external: Object.keys(PEERS),
    bundle: true,
    splitting: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
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
      './react': entry('react/index'),
      './package.json': './package.json',
    },
    peerDependencies: PEERS,
    peerDependenciesMeta: Object.fromEntries(
      Object.keys(PEERS).map((name) => [name, { optional: true }]),
    ),
    publishConfig,
  }
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  await buildClientPackage(resolve(process.argv[2] ?? join(ROOT, 'dist-client')))
