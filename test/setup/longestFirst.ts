import { accessSync } from 'node:fs'
import { join } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, first: a fresh clone knows no times of an earlier run. */
const LONGEST = [
  'test/mix/long.test.ts',
  'test/chaos/chaos.test.ts',
  'test/world/dev.test.ts',
  'test/recovery/takeover.test.ts',
  'test/failover/failover.test.ts',
  'test/recovery/kill.test.ts',
  'test/faults/indexer.test.ts',
  'src/db/leaders/lead.test.ts',
  'src/db/leaders/whileLeading.test.ts',
  'test/recovery/upgrade.test.ts',
  'test/e2e/journey.test.ts',
  'test/privacy/twins.test.ts',
  'test/relayer/kill.test.ts',
  'test/e2e/page.test.ts',
  'test/e2e/pageLate.test.ts',
  'test/e2e/readme.test.ts',
  'test/world/contractHarness.test.ts',
  'test/world/stack.test.ts',
  'test/recovery/connections.test.ts',
  'test/solana/cli.test.ts',
  'test/solana/tailBound.test.ts',
].map((file) => join(import.meta.dirname, '../..', file))
for (const file of LONGEST) accessSync(file)

/** Begins with the files that take longest, so that workers end together; a worker serves one project. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification): number => {
      const found = LONGEST.indexOf(moduleId)
      return (
        (project.name === 'chains' ? LONGEST.length + 1 : 0) + (found < 0 ? LONGEST.length : found)
      )
    }
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => place(a) - place(b))
  }
}
