import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { generate } from './scripts/generate.js'
import { LongestFirst } from './test/setup/longestFirst.js'
import { temporaryFolder } from './test/setup/temporary.js'
import { isInTier, listTestFiles, tier } from './test/setup/tiers.js'
import { filesAtOnce, isQuick } from './test/setup/workers.js'

await generate()

// every process of a run inherits this
process.env.TMPDIR = temporaryFolder()

/** Made once per run: the programs that tests start (test/setup/built.ts), and a data directory of PostgreSQL. */
const run = `${process.pid}-${Date.now()}`
const programs = join(import.meta.dirname, `dist-test-${run}`)
const template = join(process.env.TMPDIR, `clusterd-postgres-${run}`)
process.on('exit', () => {
  const made = [programs, template, `${template}-migrated`, `${template}-migrated.new.log`]
  for (const path of made) rmSync(path, { recursive: true, force: true })
})

/**
 * Of all projects. The time limits leave room for a busy machine: what hangs fails by its own deadline. No rule or
 * property is tried twice.
 */
const options = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // what a test waits for comes late on a busy machine: vitest's own limit is one second
  expect: { poll: { timeout: 20_000 } },
  // tests kill servers, never the machine: nothing has to reach the disk
  provide: { programs, postgres: { template, settings: { fsync: 'off' } } },
  setupFiles: ['test/setup/prepare.ts'],
  // most of what a test makes is dead soon: with more room it is collected less often
  execArgv: ['--max-semi-space-size=32'],
}

/**
 * Second tries of tests of whole worlds, whose machine may stall: none by default, since a second try in a world that
 * the first has changed fails in another way. `.ci/run` asks for one and says which tests took it.
 */
const retry = Number(process.env.TEST_RETRIES ?? 0)

/** Folders of test files by what may run beside them. */
const FOLDERS = {
  /** Tests of one shared world. */
  shared: ['e2e', 'conformance'],
  /** Files that start worlds of their own, and kill, reorg and stop them: last, few files at a time. */
  worlds: ['world', 'recovery', 'upgrade', 'failover', 'faults', 'chaos', 'mix', 'bench'],
  /** Steps of an indexer or a relayer over a chain of their own, which mines when a test says so. */
  chains: ['relayer', 'indexer', 'solana', 'communities'],
}

const files = listTestFiles().filter((path) => isInTier(path, tier))

/** Tests of the API that run once more as a role whose settings are all wrong: not in the quick tier. */
const SETTINGS = [
  'clusters',
  'communities',
  'events',
  'lookups',
  'register',
  'settings',
  'v0.1',
].map((name) => `test/api/${name}.test.ts`)
const settings = tier === 'quick' ? [] : listTestFiles().filter((path) => SETTINGS.includes(path))

const filesIn = (folders: readonly string[]): string[] =>
  files.filter((path) => folders.some((folder) => path.startsWith(`test/${folder}/`)))

const shared = filesIn(FOLDERS.shared)
const worlds = filesIn(FOLDERS.worlds)
const chains = filesIn(FOLDERS.chains)

/**
 * On slow cores, files that run alone too: what notices an outage within seconds takes a busy machine for one, as
 * Patroni and HAProxy do, and a generator of load that waits for a processor measures that wait.
 */
const ALONE_ON_SLOW = [
  'test/recovery/outage.test.ts',
  'test/failover/failover.test.ts',
  'test/chaos/chaos.test.ts',
  'test/bench/gate.test.ts',
]
/** One after the other at the end: measurements of prices, and what slow cores can't run beside others. */
const ALONE = [
  'test/api/costs.test.ts',
  'test/api/listCosts.test.ts',
  ...(isQuick ? [] : ALONE_ON_SLOW),
]
const alone = files.filter((path) => ALONE.includes(path))

const others = [...shared, ...worlds, ...chains, ...alone]
const own = files.filter((path) => !others.includes(path))

/** Of tests after those of the shared world. */
const afterShared = { ...options, setupFiles: [...options.setupFiles, 'test/setup/restWorld.ts'] }

/** Files and folders that the command line names. */
const named = process.argv
  .slice(2)
  .map((word) => word.replace(/^\.\//, ''))
  .filter((word) => /^(src|test)\//.test(word))

/** A project takes a while to set up: one without any of the files that are to run is left out. */
const hasWork = ({ test }: { test: { include: string[] } }): boolean =>
  named.length === 0
    ? test.include.length > 0
    : test.include.some((path) => named.some((word) => path.startsWith(word)))

const projects = [
  {
    test: {
      ...options,
      name: 'own',
      // no test changes a module's state for others: modules are loaded once per worker
      isolate: false,
      include: own,
      maxWorkers: filesAtOnce,
      sequence: { groupOrder: 0 },
    },
  },
  {
    test: {
      ...options,
      name: 'settings',
      isolate: false,
      include: settings,
      env: { WRONG_SETTINGS: '1' },
      maxWorkers: filesAtOnce,
      sequence: { groupOrder: 0 },
    },
  },
  {
    test: {
      ...options,
      retry,
      name: 'chains',
      isolate: false,
      include: chains,
      maxWorkers: filesAtOnce,
      sequence: { groupOrder: 0 },
    },
  },
  {
    // packages are resolved as Node does: the `module` entry of some (Anchor's) is for bundlers alone
    environments: { __vitest__: { resolve: { mainFields: ['main'] } } },
    test: {
      ...options,
      retry,
      name: 'e2e',
      isolate: false,
      include: shared,
      globalSetup: ['test/setup/globalSetup.ts'],
      setupFiles: [...options.setupFiles, 'test/setup/wakeWorld.ts'],
      maxWorkers: filesAtOnce,
      sequence: { groupOrder: 1 },
    },
  },
  {
    test: {
      ...afterShared,
      retry,
      name: 'worlds',
      isolate: false,
      include: worlds.filter((path) => !alone.includes(path)),
      maxWorkers: filesAtOnce,
      sequence: { groupOrder: 2 },
    },
  },
  {
    test: {
      ...afterShared,
      retry,
      name: 'alone',
      include: alone,
      maxWorkers: 1,
      sequence: { groupOrder: 3 },
    },
  },
]

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // the projects share what they have transformed, and so do runs
    experimental: { fsModuleCache: true },
    projects: projects.filter(hasWork),
  },
})
