import { statSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Small files first: what a unit test kills never waits for a model. */
class SmallestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sizeOf = ({ moduleId }: TestSpecification) => statSync(moduleId).size
    const isModel = ({ moduleId }: TestSpecification) => Number(moduleId.includes('/test/model/'))
    return [...files].sort((a, b) => isModel(a) - isModel(b) || sizeOf(a) - sizeOf(b))
  }
}

/**
 * The tests of `npm run mutations` (stryker.config.json): no chain, no database, no process. Of the relayer the pure
 * machine alone is mutated. docs/measure/chaos.md shows how to narrow a run to one folder.
 */
export default defineConfig({
  test: {
    // modules are loaded once per run, which is most of its time
    isolate: false,
    setupFiles: ['test/setup/mutations.ts'],
    include: process.env.MUTATIONS_TESTS?.split(' ') ?? [
      'src/{registry,relayer}/**/*.test.ts',
      'test/model/{clusters,communities}.test.ts',
    ],
    // models are slow in instrumented code
    testTimeout: 600_000,
    sequence: { sequencer: SmallestFirst },
  },
})
