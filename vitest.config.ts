import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { generate } from './scripts/generate.js'
import { LongestFirst } from './test/setup/longestFirst.js'
import { temporaryFolder } from './test/setup/temporary.js'
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
const shared = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
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

/** Tests of one shared world. */
const SHARED = ['test/e2e/**/*.test.ts', 'test/conformance/**/*.test.ts']

/** Files that start worlds of their own, and kill, reorg and stop them: last, few files at a time. */
const WORLDS = ['world', 'recovery', 'failover', 'faults', 'chaos', 'bench'].map(
  (dir) => `test/${dir}/**/*.test.ts`,
)

/** Steps of an indexer or a relayer over a chain of their own, which mines when a test says so. */
const CHAINS = ['test/relayer', 'test/indexer', 'test/solana', 'test/communities'].map(
  (dir) => `${dir}/**/*.test.ts`,
)

/** Of tests after those of the shared world. */
const afterShared = { ...shared, setupFiles: [...shared.setupFiles, 'test/setup/restWorld.ts'] }

/** Measurements of how fast a daemon notices an outage: on quick cores beside others. */
const ALONE = isQuick ? [] : ['test/recovery/outage.test.ts']

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    // the projects share what they have transformed, and so do runs
    experimental: { fsModuleCache: true },
    projects: [
      {
        test: {
          ...shared,
          name: 'own',
          // no test changes a module's state for others: modules are loaded once per worker
          isolate: false,
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...SHARED, ...WORLDS, ...CHAINS],
          maxWorkers: filesAtOnce,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...shared,
          retry,
          name: 'chains',
          isolate: false,
          include: CHAINS,
          maxWorkers: filesAtOnce,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // packages are resolved as Node does: the `module` entry of some (Anchor's) is for bundlers alone
        environments: { __vitest__: { resolve: { mainFields: ['main'] } } },
        test: {
          ...shared,
          retry,
          name: 'e2e',
          isolate: false,
          include: SHARED,
          globalSetup: ['test/setup/globalSetup.ts'],
          setupFiles: [...shared.setupFiles, 'test/setup/wakeWorld.ts'],
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
          include: WORLDS,
          exclude: ALONE,
          maxWorkers: filesAtOnce,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: {
          ...afterShared,
          retry,
          name: 'alone',
          include: ALONE,
          maxWorkers: 1,
          sequence: { groupOrder: 3 },
        },
      },
    ],
  },
})
