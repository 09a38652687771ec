import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { generate } from './scripts/generate.js'
import { temporaryFolder } from './test/support/temporary.js'

await generate()

// for everything that a run starts
process.env.TMPDIR = temporaryFolder()

/** What this run makes once: the programs that it starts (test/support/built.ts), and a data directory of PostgreSQL. */
const run = `${process.pid}-${Date.now()}`
const programs = join(import.meta.dirname, `dist-test-${run}`)
const template = join(process.env.TMPDIR, `clusterd-postgres-${run}`)
process.on('exit', () => {
  for (const folder of [programs, template]) rmSync(folder, { recursive: true, force: true })
})

/** What hangs is seen by its own deadlines; these leave room for a machine that is busy. */
const shared = {
  testTimeout: 120_000,
  hookTimeout: 120_000,
  // servers are killed here, yet nobody pulls the plug
  provide: { programs, postgres: { template, settings: { fsync: 'off' } } },
  setupFiles: ['test/prepare.ts'],
}

/** These share one world. */
const SHARED = ['test/e2e/**/*.test.ts', 'test/conformance/**/*.test.ts']

/** Each of these starts worlds of its own, or kills, reorgs and stops what it started: they come last, two files at a time. */
const WORLDS = ['test/world', 'test/recovery', 'test/faults', 'test/chaos', 'test/bench'].map(
  (dir) => `${dir}/**/*.test.ts`,
)

/** These hold the steps of an indexer or a relayer against a chain of their own, which mines when it likes. */
const CHAINS = ['test/relayer', 'test/indexer', 'test/solana', 'test/communities'].map((dir) => `${dir}/**/*.test.ts`)

/** These measure how fast a daemon lets go of what is away: beside nothing else. */
const ALONE = ['test/recovery/outage.test.ts']

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'own',
          // nothing here changes a module's state for others: they are loaded once a worker
          isolate: false,
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...SHARED, ...WORLDS, ...CHAINS],
          // much of their time they wait for blocks
          maxWorkers: 3,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // like the worlds below: a node that stalls for a moment fails one now and then
        test: {
          ...shared,
          name: 'chains',
          isolate: false,
          include: CHAINS,
          maxWorkers: 3,
          retry: 1,
          sequence: { groupOrder: 0 },
        },
      },
      {
        // these share one world, which is started only when one of them runs
        // packages are loaded as Node loads them: the `module` entry of some (Anchor's) is for bundlers alone
        environments: { __vitest__: { resolve: { mainFields: ['main'] } } },
        test: {
          ...shared,
          name: 'e2e',
          include: SHARED,
          globalSetup: ['test/globalSetup.ts'],
          setupFiles: [...shared.setupFiles, 'test/wakeWorld.ts'],
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // Whole worlds of processes against deadlines: a machine that stalls for seconds fails one now and then, and the
        // report names what passed at the second try. Tests of rules and properties are never tried twice.
        test: {
          ...shared,
          name: 'worlds',
          include: WORLDS,
          exclude: ALONE,
          maxWorkers: 2,
          retry: 1,
          sequence: { groupOrder: 2 },
        },
      },
      {
        test: { ...shared, name: 'alone', include: ALONE, maxWorkers: 1, retry: 1, sequence: { groupOrder: 3 } },
      },
    ],
  },
})
