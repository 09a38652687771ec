import { accessSync } from 'node:fs'
import { join } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files that take longest, the longest first. The runner knows the others' times from its last run, of which a fresh
 * clone has none: it would begin one of a minute when all else is done. Those that mostly wait stand between those that
 * compute, so that the cores are busy meanwhile.
 */
const LONGEST = [
  'test/failover/failover.test.ts',
  'test/chaos/chaos.test.ts',
  'test/faults/indexer.test.ts',
  'test/world/dev.test.ts',
  'test/e2e/explorer.test.ts',
  'src/db/pg/leader.test.ts',
  'test/model/status.test.ts',
  'src/db/pg/leads.test.ts',
  'test/relayer/payouts.test.ts',
  'test/storage/manyNames.test.ts',
  'test/recovery/upgrade.test.ts',
  'test/e2e/journey.test.ts',
  'test/recovery/takeover.test.ts',
  'test/recovery/kill.test.ts',
  'test/privacy/twins.test.ts',
  'src/testing/chains/anvil.test.ts',
  'test/api/generate.test.ts',
  'test/relayer/kill.test.ts',
  'test/storage/replicas.test.ts',
  'test/recovery/connections.test.ts',
  'test/e2e/page.test.ts',
  'test/world/stack.test.ts',
  'test/recovery/start.test.ts',
  'test/e2e/pageFaults.test.ts',
  'test/e2e/pageLate.test.ts',
  'test/world/rehearsal.test.ts',
  'test/e2e/export.test.ts',
  'test/e2e/bridge.test.ts',
].map((file) => join(import.meta.dirname, '../..', file))
// a file of another name would count as short
for (const file of LONGEST) accessSync(file)

/** Begins with the files that take longest, so that workers end together. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => {
      const found = LONGEST.indexOf(moduleId)
      return found < 0 ? LONGEST.length : found
    }
    const sorted = await super.sort(files)
    return sorted.sort((a, b) => place(a) - place(b))
  }
}
