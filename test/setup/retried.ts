import type { Reporter, TestCase } from 'vitest/node'

/** Reporter that names the tests which passed at a second try, with what the first one met. */
export default class Retried implements Reporter {
  readonly #names: string[] = []

  onTestCaseResult(test: TestCase): void {
    const { retryCount = 0, flaky = false } = test.diagnostic() ?? {}
    if (!flaky) return
    const met = (test.result().errors ?? [])
      .map(({ message }) => `\n==     ${message.slice(0, 1_000)}`)
      .join('')
    this.#names.push(`${test.module.moduleId} > ${test.fullName} (${retryCount + 1} tries)${met}`)
  }

  onTestRunEnd(): void {
    console.log(`== tests that passed at a second try: ${this.#names.length}`)
    for (const name of this.#names) console.log(`==   ${name}`)
  }
}
