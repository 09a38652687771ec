import type { Command } from 'commander'

/** Commands and keys of one chain family. */
export interface ChainFamilyCommands {
  /** Adds the commands that deploy the family's contracts or program. */
  add(program: Command): void
  /** Generates the relayer's key for the family. Absent where no option of `clusterd init` adds the family. */
  makeKey?(): GeneratedRelayerKey
}

/** A new key with which the relayer signs on a family's chains. */
export interface GeneratedRelayerKey {
  /** Environment variable that names the key's file. */
  readonly variable: string
  readonly file: string
  readonly content: string
  /** Sentence that names the key's public part. */
  readonly note: string
  /**
   * Commands that deploy the family's program.
   * @param network option to add to the commands, such as ` --testnet`, or empty
   */
  steps(network: string): string[]
}
