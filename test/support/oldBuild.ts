import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { MIGRATIONS_DIR } from '../../src/db/pg/migrate.js'

const git = (...args: string[]): string | null => {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}

/** The newest commit before the newest migration; null where there is no history. */
export function commitBeforeNewestMigration(): string | null {
  const newest = readdirSync(MIGRATIONS_DIR)
    .filter((name) => /^\d+_/.test(name))
    .sort()
    .at(-1)
  const added = [
    '--first-parent',
    '--diff-merges=first-parent',
    '--diff-filter=A',
    '--format=%H',
    '--no-patch',
  ]
  const commit = git('log', ...added, '-1', '--', `prisma/migrations/${newest}/migration.sql`)
  return commit ? git('rev-parse', '--verify', '--quiet', `${commit}^`) : null
}

/**
 * Builds a commit of this repository with this checkout's packages, once: it stays in node_modules/.cache.
 * @param user test file with a build of its own: two files that run at once would remove each other's unfinished build
 * @returns its folder, and the file of its command line
 */
export function buildCommit(commit: string, user: string): { folder: string; program: string } {
  const folder = resolve('node_modules/.cache', `clusterd-${user}-${commit.slice(0, 12)}`)
  const dist = join(folder, 'dist-old')
  const program = join(dist, 'cli.js')
  if (existsSync(program)) return { folder, program }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const archive = execFileSync('git', ['archive', commit], { maxBuffer: 2 ** 30 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  // what is still current of this checkout's generated files needs not be made again
  for (const generated of ['src/db/generated', 'src/client/generated', 'src/web/generated'])
    if (existsSync(generated)) cpSync(generated, join(folder, generated), { recursive: true })
  const work = `import { generate } from './scripts/generate.ts'
import { builtProgram } from './test/setup/built.ts'
await generate()
await builtProgram(${JSON.stringify(dist)}, 'cli')`
  const tsx = pathToFileURL(resolve('node_modules/tsx/dist/loader.mjs')).href
  // its scripts may know nothing of what this checkout leaves out of Prisma
  const env = { ...process.env, NODE_OPTIONS: `--require ${resolve('scripts/withoutStudio.cjs')}` }
  execFileSync(process.execPath, ['--import', tsx, '--input-type=module', '--eval', work], {
    cwd: folder,
    env,
  })
  return { folder, program }
}
