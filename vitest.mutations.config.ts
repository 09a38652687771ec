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
 * The tests of `npm run mutations:unit` (stryker.config.json): no chain, no database, no process. `MUTATIONS_TESTS`
 * narrows them for one folder, e.g. `MUTATIONS_TESTS='src/registry/primitives/*.test.ts' npm run mutations:unit --
 * --mutate 'src/registry/primitives/*.ts'`.
 */
export default defineConfig({
  test: {
    include: process.env.MUTATIONS_TESTS?.split(' ') ?? [
      'src/{registry,relayer}/**/*.test.ts',
      'test/model/{clusters,communities}.test.ts',
    ],
    // models are slow in instrumented code
    testTimeout: 600_000,
    sequence: { sequencer: SmallestFirst },
  },
})
