import { beforeEach } from 'vitest'

/**
 * Ends tests that each go on where the last one stopped, from the first that failed on: they would wait for what can't
 * come, for minutes.
 */
export function endAtFirstFailure(): void {
  beforeEach(({ task }) => {
    const failed = task.suite?.tasks.find(
      (other) => other !== task && other.result?.state === 'fail',
    )
    if (failed) throw new Error(`not begun: "${failed.name}" failed`)
  })
}
