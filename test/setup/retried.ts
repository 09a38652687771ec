import type { Reporter, TestCase } from 'vitest/node'

/** Reporter that names the tests which passed at a second try. */
export default class Retried implements Reporter {
  readonly #names: string[] = []

  onTestCaseResult(test: TestCase): void {
    const { retryCount = 0, flaky = false } = test.diagnostic() ?? {}
    if (flaky) this.#names.push(`${test.module.moduleId} > ${test.fullName} (${retryCount + 1} tries)`)
  }

  onTestRunEnd(): void {
    console.log(`== tests that passed at a second try: ${this.#names.length}`)
    for (const name of this.#names) console.log(`==   ${name}`)
  }
}
