import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'
import { inject } from 'vitest'
import { lockFile } from '../../src/testing/processes/files.js'
import { useBuiltPrograms } from '../../src/testing/processes/programs.js'

/**
 * The programs that tests start as processes of their own, bundled with their packages: a daemon is up after 0.5 s of
 * computing, not after 3 s as from its sources through tsx. Built once per run, when the first of them is started.
 */
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Of the package. */
const PROGRAMS = [
  'cli',
  'client/index',
  'contracts/index',
  'testing/index',
  'testing/solana/surfpoolChild',
]
/** Of tests. */
const TEST_PROGRAMS = [
  'test/relayer/child',
  'test/solana/child',
  'test/support/logProcess',
  'test/support/signerProcess',
]
const DEADLINE_MS = 60_000

/**
 * The file of a built program. @param folder of this run @param program its path in `src`, or from `test/` on, without
 * extension
 */
export async function builtProgram(folder: string, program: string): Promise<string> {
  if (!existsSync(folder)) {
    const lock = await lockFile(`${folder}.lock`, DEADLINE_MS)
    try {
      if (!existsSync(folder)) await build(folder)
    } finally {
      lock.release()
    }
  }
  return join(folder, `${program}.js`)
}

/**
 * Makes a script's process start programs from a build of its own, as in production: from sources a start takes the
 * machine six times as long, and each error looks for its source lines. @param name of the script
 */
export function startBuiltPrograms(name: string): void {
  const folder = join(ROOT, `dist-test-${name}-${process.pid}`)
  useBuiltPrograms((program) => builtProgram(folder, program))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
}

/** The file of a program of the tests or of a script that they run, by its path, in this run. */
export const testProgram = (program: string): Promise<string> =>
  builtProgram(inject('programs'), program)

async function build(folder: string): Promise<void> {
  // loaded by the one worker that builds
  const [esbuild, { LIBRARIES }] = await Promise.all([
    import('esbuild'),
    import('../../scripts/bundle.js'),
  ])
  const fresh = `${folder}.new`
  rmSync(fresh, { recursive: true, force: true })
  await esbuild.build({
    entryPoints: [
      ...PROGRAMS.map((program) => ({ in: join(ROOT, 'src', `${program}.ts`), out: program })),
      ...TEST_PROGRAMS.map((program) => ({ in: join(ROOT, `${program}.ts`), out: program })),
    ],
    outdir: fresh,
    ...LIBRARIES,
    // modules loaded by path, and native ones, stay in place
    external: ['pino', 'pino-pretty', 'pg-native', 'vitest', 'litesvm', 'esbuild'],
    plugins: [inPlace(folder), ...LIBRARIES.plugins],
  })
  await esbuild.stop()
  renameSync(fresh, folder)
}

/** Lets each source find its files and the other programs as if it lay in the folder alone. */
const inPlace = (folder: string): Plugin => ({
  name: 'in-place',
  setup(build) {
    build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8')
      if (!text.includes('import.meta.')) return null
      const inSources = relative(join(ROOT, 'src'), path)
      const place = inSources.startsWith('..')
        ? path
        : join(folder, inSources.replace(/\.ts$/, '.js'))
      const contents = text
        .replaceAll('import.meta.url', JSON.stringify(pathToFileURL(place).href))
        .replaceAll('import.meta.dirname', JSON.stringify(dirname(place)))
      return { contents, loader: 'ts' }
    })
  },
})
