/** A build that is broken on purpose. */
export interface Mutation {
  name: string
  /** The invariant it breaks, by its number. */
  invariant: number
  file: string
  /** Stands exactly once in the file. */
  find: string
  replace: string
  /** Test files, and the tests in them by a part of their names. */
  tests: { files: readonly string[]; only?: string }
  /** Script that compiles the broken source: `contracts` for Solidity, `contracts:solana` for Rust. */
  builds?: 'contracts' | 'contracts:solana'
}

/** What breaks, the text, its replacement, and a part of the names of the tests that notice (all if left out). */
type Change = readonly [name: string, find: string, replace: string, only?: string]

/** Broken builds of one contract, all against invariant 10. */
export const ofContract = (file: string, files: readonly string[], changes: readonly Change[]): Mutation[] =>
  changes.map(([name, find, replace, only]) => ({
    ...{ name, file, find, replace, invariant: 10 },
    tests: { files, ...(only !== undefined && { only }) },
    builds: file.endsWith('.rs') ? 'contracts:solana' : 'contracts',
  }))
