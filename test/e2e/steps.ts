import { beforeEach } from 'vitest'

/**
 * For tests that build on each other: after the first failure the remaining tests fail at once, instead of waiting
 * minutes for something that can't come.
 */
export function endAtFirstFailure(): void {
  beforeEach(({ task }) => {
    const failed = task.suite?.tasks.find(
      (other) => other !== task && other.result?.state === 'fail',
    )
    if (failed) throw new Error(`not begun: "${failed.name}" failed`)
  })
}
