import type { Command } from 'commander'

/** What the commands know of one chain family. */
export interface FamilyCommands {
  /** Adds the commands that deploy the family's contracts or program. */
  add(program: Command): void
  /** Makes the relayer's key if an option of `clusterd init` adds the family. */
  makeKey?(): GeneratedKey
}

/** A new key with which the relayer signs on a family's chains. */
export interface GeneratedKey {
  /** Variable that names the file. */
  readonly variable: string
  readonly file: string
  readonly content: string
  /** Sentence that names the key's public part. */
  readonly note: string
  /** Commands that deploy the family's program. @param network option of these commands, or an empty text */
  steps(network: string): string[]
}
